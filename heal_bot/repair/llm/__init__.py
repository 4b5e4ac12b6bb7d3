"""The model proposer: prompts, replies, budget."""
