"""Reading by CID through gateways: the order of gateways, the proof of their answers, the targets of the bytes."""
