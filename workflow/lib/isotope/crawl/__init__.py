"""Pictures from their addresses to WebP, with a ledger."""
