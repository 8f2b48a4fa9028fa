"""What turns texts and images into vectors."""
