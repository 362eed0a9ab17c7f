"""What is the model about to search for? Pure: no I/O, no clock."""
