"""The values, settings and texts that everything else is made of."""

VERSION = "0.1.0"
