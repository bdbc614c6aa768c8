"""What an intruder finds in a table or a release."""
