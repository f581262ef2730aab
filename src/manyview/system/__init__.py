"""Files, memory, settings of the process, and progress on the terminal."""
