"""Similarity-based clustering (Sarrafi Aghdam & Sonehara 2016)."""
