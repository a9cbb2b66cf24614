"""What the operating system knows: processes and places. Imports nothing of ours."""
