"""From a candidate to a certificate."""
