//! Fuzz targets: what every reader of foreign bytes must survive, and what must hold when it accepts them.
//!
//! The same bodies run in two lives: under a coverage-guided fuzzer (`fuzz/`, nightly Rust) and, on stable Rust, over
//! deterministic mutations of a seed corpus (`tests/short_fuzz.rs`, part of every test run).

pub mod bytes;
pub mod community;
pub mod fec;
pub mod fetch;
pub mod machines;
mod mutate;
pub mod ptcp;
pub mod rcp;
pub mod receipts;
pub mod routing;
pub mod sealed;
mod seeds;
pub mod settlement;
pub mod text;

pub use mutate::Mutator;

/// A fuzz target: a name, a body that panics when something is wrong, and inputs to start from.
#[derive(Clone, Copy)]
pub struct Target {
    /// The name, also of its binary in `fuzz/`.
    pub name: &'static str,
    /// Runs one input.
    pub run: fn(&[u8]),
    /// Well-formed inputs.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// How inputs are mutated.
    pub mutator: Mutator,
    /// Rounds for every one of the cheapest target: less for what is slow.
    pub weight: f64,
}

/// Every target.
pub const TARGETS: &[Target] = &[
    Target { name: "ip", run: bytes::ip, seeds: seeds::packets, mutator: Mutator::Packet, weight: 1.0 },
    Target { name: "tcp", run: bytes::tcp, seeds: seeds::packets, mutator: Mutator::Packet, weight: 1.0 },
    Target {
        name: "options",
        run: bytes::options,
        seeds: seeds::options,
        mutator: Mutator::Bytes,
        weight: 1.0,
    },
    Target { name: "udp", run: bytes::udp, seeds: seeds::packets, mutator: Mutator::Packet, weight: 1.0 },
    Target { name: "gre", run: bytes::gre, seeds: seeds::gre, mutator: Mutator::Bytes, weight: 1.0 },
    Target {
        name: "gre_in_udp",
        run: bytes::gre_in_udp,
        seeds: seeds::gre_in_udp,
        mutator: Mutator::Packet,
        weight: 1.0,
    },
    Target {
        name: "rewrite",
        run: bytes::rewrite,
        seeds: seeds::rewrites,
        mutator: Mutator::Bytes,
        weight: 1.0,
    },
    Target {
        name: "proxy",
        run: machines::proxy,
        seeds: seeds::programs,
        mutator: Mutator::Bytes,
        weight: 0.2,
    },
    Target {
        name: "connection",
        run: machines::connection,
        seeds: seeds::programs,
        mutator: Mutator::Bytes,
        weight: 0.2,
    },
    Target {
        name: "rcp_header",
        run: rcp::header,
        seeds: rcp::headers,
        mutator: Mutator::Bytes,
        weight: 1.0,
    },
    Target { name: "rcp_ends", run: rcp::ends, seeds: rcp::programs, mutator: Mutator::Bytes, weight: 0.2 },
    Target {
        name: "handoff",
        run: machines::handoff,
        seeds: seeds::programs,
        mutator: Mutator::Bytes,
        weight: 0.2,
    },
    Target {
        name: "door",
        run: machines::door,
        seeds: seeds::programs,
        mutator: Mutator::Bytes,
        weight: 0.2,
    },
    Target {
        name: "ptcp_header",
        run: ptcp::header,
        seeds: ptcp::datagrams,
        mutator: Mutator::Bytes,
        weight: 1.0,
    },
    Target {
        name: "ptcp_connection",
        run: ptcp::connection,
        seeds: ptcp::programs,
        mutator: Mutator::Bytes,
        weight: 0.1,
    },
    Target {
        name: "striping_record",
        run: ptcp::record,
        seeds: ptcp::records,
        mutator: Mutator::Bytes,
        weight: 0.5,
    },
    Target {
        name: "fetch_datagram",
        run: fetch::datagram,
        seeds: fetch::datagrams,
        mutator: Mutator::Bytes,
        weight: 1.0,
    },
    Target {
        name: "fetch_server",
        run: fetch::server,
        seeds: fetch::programs,
        mutator: Mutator::Bytes,
        weight: 0.05,
    },
    Target {
        name: "fetch_client",
        run: fetch::client,
        seeds: fetch::programs,
        mutator: Mutator::Bytes,
        weight: 0.05,
    },
    Target {
        name: "fetch_pipes",
        run: fetch::pipes,
        seeds: fetch::pipe_programs,
        mutator: Mutator::Bytes,
        weight: 0.05,
    },
    Target {
        name: "fetch_pipes_client",
        run: fetch::pipes_client,
        seeds: fetch::pipe_programs,
        mutator: Mutator::Bytes,
        weight: 0.05,
    },
    Target {
        name: "dsr_header",
        run: routing::dsr_header,
        seeds: routing::dsr_seeds,
        mutator: Mutator::Bytes,
        weight: 1.0,
    },
    Target {
        name: "aodv_message",
        run: routing::aodv_message,
        seeds: routing::aodv_seeds,
        mutator: Mutator::Bytes,
        weight: 1.0,
    },
    Target {
        name: "dsdv_update",
        run: routing::dsdv_update,
        seeds: routing::dsdv_seeds,
        mutator: Mutator::Bytes,
        weight: 1.0,
    },
    Target {
        name: "dsr_host",
        run: routing::dsr_host,
        seeds: routing::dsr_programs,
        mutator: Mutator::Bytes,
        weight: 0.05,
    },
    Target {
        name: "aodv_host",
        run: routing::aodv_host,
        seeds: routing::aodv_programs,
        mutator: Mutator::Bytes,
        weight: 0.05,
    },
    Target {
        name: "dsdv_host",
        run: routing::dsdv_host,
        seeds: routing::dsdv_programs,
        mutator: Mutator::Bytes,
        weight: 0.05,
    },
    Target {
        name: "route_radio",
        run: routing::route_radio,
        seeds: routing::route_radio_messages,
        mutator: Mutator::Bytes,
        weight: 1.0,
    },
    Target {
        name: "scenario",
        run: text::scenario,
        seeds: seeds::scenarios,
        mutator: Mutator::Text,
        weight: 0.1,
    },
    Target {
        name: "proxy_config",
        run: text::proxy_config,
        seeds: seeds::proxy_configs,
        mutator: Mutator::Text,
        weight: 0.2,
    },
    Target {
        name: "member_config",
        run: text::member_config,
        seeds: seeds::member_configs,
        mutator: Mutator::Text,
        weight: 0.2,
    },
    Target {
        name: "delivery_trace",
        run: text::delivery_trace,
        seeds: seeds::delivery_traces,
        mutator: Mutator::Text,
        weight: 0.5,
    },
    Target {
        name: "control",
        run: text::control,
        seeds: seeds::control,
        mutator: Mutator::Bytes,
        weight: 0.5,
    },
    Target {
        name: "receipt",
        run: receipts::receipt,
        seeds: receipts::receipt_seeds,
        mutator: Mutator::Bytes,
        weight: 1.0,
    },
    Target {
        name: "sealed",
        run: sealed::sealed,
        seeds: sealed::programs,
        mutator: Mutator::Bytes,
        weight: 0.1,
    },
    Target {
        name: "slp",
        run: community::slp,
        seeds: community::slp_seeds,
        mutator: Mutator::Bytes,
        weight: 0.5,
    },
    Target {
        name: "mdns",
        run: community::mdns,
        seeds: community::mdns_seeds,
        mutator: Mutator::Bytes,
        weight: 0.5,
    },
    Target {
        name: "lending",
        run: community::lending,
        seeds: community::lending_seeds,
        mutator: Mutator::Bytes,
        weight: 0.5,
    },
    Target {
        name: "contents",
        run: community::contents,
        seeds: community::contents_seeds,
        mutator: Mutator::Bytes,
        weight: 0.5,
    },
    Target {
        name: "settlement",
        run: settlement::settlement,
        seeds: settlement::seeds,
        mutator: Mutator::Bytes,
        weight: 0.5,
    },
    Target {
        name: "link_meter",
        run: receipts::meter,
        seeds: receipts::meter_seeds,
        mutator: Mutator::Bytes,
        weight: 0.2,
    },
    Target {
        name: "repair",
        run: fec::repair,
        seeds: fec::repair_seeds,
        mutator: Mutator::Bytes,
        weight: 0.5,
    },
    Target {
        name: "event_log",
        run: text::event_log,
        seeds: seeds::event_logs,
        mutator: Mutator::Text,
        weight: 0.2,
    },
    Target {
        name: "capture",
        run: text::capture,
        seeds: seeds::captures,
        mutator: Mutator::Bytes,
        weight: 0.5,
    },
];

/// The target called `name`.
///
/// # Panics
/// When there is none.
pub fn target(name: &str) -> &'static Target {
    TARGETS.iter().find(|target| target.name == name).unwrap_or_else(|| panic!("no fuzz target {name}"))
}
