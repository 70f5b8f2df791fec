"""Dialogs and screens on top of any place."""
