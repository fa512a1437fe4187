"""What is chosen by how well it explains the answers: start, number of classes, noise family."""
