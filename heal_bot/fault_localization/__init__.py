"""From failures and spectrum to ranked suspects in clusters."""
