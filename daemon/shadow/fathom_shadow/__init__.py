"""Record and replay of what a rank's collectives gave, for a shadow iteration (docs/operations/shadow.md)."""
