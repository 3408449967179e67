"""Measurements that need the tests' servers; `make bench` runs them."""
