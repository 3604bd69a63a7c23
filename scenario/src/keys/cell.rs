//! The keys of `[cell]`.
use super::{Key, key};

/// Keys of `[cell]`.
pub const CELL: &[Key] = &[
    key("hosts", "list of nodes", "all other hosts", "the hosts of the cell"),
    key("base_station", "node", "required", "the node that is the base station"),
    key("access", "name", "required", "who sends in a slot"),
    key("rate", "rate", "2 Mbit/s", "rate of the channel"),
    key("packet", "size", "1500 B", "length of a slot: one packet of up to so many bytes, headers included"),
    key(
        "range_m",
        "number or \"least\"",
        "250",
        "how far peers hear one another, in metres; \"least\": just as far as connects all, as routes are looked at",
    ),
    key("queue_packets", "whole number", "50", "packets that wait at a source for one destination"),
    key("routes_every", "duration", "1 s", "how often neighbours and routes are looked at while hosts move"),
    key("overhead", "number", "0.05", "polled: share of the slots that asking costs"),
    key("period_slots", "whole number", "100", "assisted: slots of a schedule"),
    key("reuse", "name", "\"receivers\"", "assisted: which transmissions may share a slot"),
    key("dual_mode", "table", "see below", "dual-mode: who changes modes, and when"),
    key(
        "stations",
        "list of nodes",
        "none",
        "assisted, contention, dual-mode: hybrid stations, routers that relay as hosts do and have wires",
    ),
    key(
        "access_points",
        "list of nodes",
        "none",
        "dual-mode, interworking: access points of another network, routers with wires",
    ),
    key("access_point_range_m", "number", "250", "how far access points reach, in metres"),
    key("access_point_rate", "rate", "11 Mbit/s", "rate of access points"),
    key("energy", "table", "none", "what hosts draw: energy is counted"),
];

/// Keys of `[cell.dual_mode]`.
pub const DUAL_MODE: &[Key] = &[
    key(
        "reference",
        "rate",
        "`rate`, divided by the hosts",
        "what a host wants at least, in both directions together",
    ),
    key("period", "duration", "100 ms", "of cellular mode and peers' mode together"),
    key("division_every", "duration", "1 s", "how often the base station divides the period anew"),
    key("monitored_every", "duration", "5 s", "how often a host looks at its throughput"),
    key("partition", "duration", "2 s", "how long a route must be missing"),
    key("sojourn", "duration", "10 s", "how long a host stays in cellular mode before it tries again"),
];

/// Keys of `[cell.energy]`.
pub const CELL_ENERGY: &[Key] = &[
    key("electronics_w", "number", "0.37816185", "power while sending besides what is radiated, in watts"),
    key("radiated_w", "number", "0.28183815", "power radiated to reach 250 m, in watts"),
    key("receive_w", "number", "0.395", "power while hearing somebody, in watts"),
];
