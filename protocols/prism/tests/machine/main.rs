//! The proxy as its host sees it, and whole connections of TCP-PRISM.
mod ack_trains;
mod bursts;
mod dead_link;
mod forged;
mod link_state;
mod robustness;
mod snapshots;
mod spurious;
mod support;
mod tcp_prism;
mod three_links;
mod waiting;
