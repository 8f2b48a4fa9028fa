"""Live answers: pictures for a text and sections for a picture, at once and one at a time."""
