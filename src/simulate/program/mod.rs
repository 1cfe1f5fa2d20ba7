//! The register program of a solved model.
