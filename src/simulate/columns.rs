//! What is recorded: columns by name.
