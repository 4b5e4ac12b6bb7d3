"""The only place where repository code runs."""
