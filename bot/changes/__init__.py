"""The one way anything is written: propose, decide, apply, reconcile."""
