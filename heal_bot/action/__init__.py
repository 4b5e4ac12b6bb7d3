"""The entry of the GitHub Action: events, admission, secrets, the process that heals."""
