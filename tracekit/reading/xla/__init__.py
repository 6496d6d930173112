"""What XLA and TensorFlow write in every format of their profilers: names, details, operators."""
