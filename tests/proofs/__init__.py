"""Proofs by trying: people and crashes are played against models of twenty lines (docs/proofs.md)."""
