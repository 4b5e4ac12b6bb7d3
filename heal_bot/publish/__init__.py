"""From a bundle written by an attacker to at most one pull request."""
