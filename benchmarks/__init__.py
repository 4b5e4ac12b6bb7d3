"""Programs that measure what the README claims."""
