"""How strong the checks are: which wrong code they catch, mutated out of the solutions or written by hand."""
