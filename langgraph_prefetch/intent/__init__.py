"""What is the model about to search for? Pure: deltas in, guesses and sealed calls out."""
