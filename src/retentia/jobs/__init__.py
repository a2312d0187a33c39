"""Work that follows a write: embedding, in a thread of this process or in a process of its own."""
