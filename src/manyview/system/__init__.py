"""What the operating system gives: files, memory, progress on the terminal."""
