"""Fitting: settings and rows in, fitted rules out."""
