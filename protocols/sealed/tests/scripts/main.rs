//! Packet by packet: what is sent, refused and told, rule by rule; and whatever the network does.

mod addresses;
mod barred;
mod handshakes;
mod keys;
mod load;
mod properties;
mod support;
mod threads;
