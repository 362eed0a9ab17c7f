"""An experiment's runs, compared: what each variant did, whether the split was fair, and whether they differ."""
