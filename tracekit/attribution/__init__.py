"""What a timeline's work comes from: worked out once, at ingest, and stored beside the events."""
