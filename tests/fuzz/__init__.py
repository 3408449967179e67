"""What comes from outside, changed at random: nothing of it may end or hang the bot (docs/proofs.md)."""
