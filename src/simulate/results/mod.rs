//! Where rows go: files, pictures, the terminal.
