"""Parts of Threadlore for programs that are built with llama-index; nothing that serves imports them."""
