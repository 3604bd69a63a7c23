//! Keys of PRISM's proxies.
use super::{Key, key};

/// Keys of a proxy.
pub const PRISM_PROXY: &[Key] = &[
    key("kind", "name", "required", "\"prism-proxy\""),
    key("profile", "name", "\"modern\"", "where the settings below begin"),
    key("scheduler", "name", "the profile's", "how a link is picked for each data packet"),
    key("rpc", "name", "\"full\"", "how much of the reverse path controller works"),
    key("tunnel", "name", "\"gre\"", "encapsulation towards the members (lab)"),
    key(
        "receipts",
        "true or false",
        "false",
        "members measure their links by receipts; a packet's number takes 4 bytes",
    ),
    key(
        "fec",
        "true or false",
        "false",
        "links that lose packets and have capacity to spare carry repair packets, which stand in for lost ones; \
         needs receipts",
    ),
    key("members", "list of members", "those a link joins it to", "send through these members"),
    key(
        "learn_rates",
        "true or false",
        "the profile's",
        "learn link rates from delivery; false takes `advertised_rate`, or the link's rate where that is missing",
    ),
    key(
        "window_control",
        "true or false",
        "the profile's",
        "limit the sender so that what is in flight fits the links (needs `learn_rates`)",
    ),
    key(
        "repair_budget_packets",
        "whole number",
        "the profile's",
        "packets kept so that the proxy can resend what a link lost; 0 switches repair off",
    ),
    key(
        "standby",
        "true or false",
        "the profile's",
        "leave out links that would slow the flow down (needs `learn_rates`)",
    ),
    key("loss_reports", "true or false", "the profile's", "tell the sender of losses in a TCP option"),
    key("report_repeat", "whole number", "3", "ACKs that carry each loss report"),
    key("weight_unit", "name", "\"slowest-link\"", "the rate that has weight 1"),
    key("weight_floor", "number", "1", "least weight after losses"),
    key("link_state", "name", "\"community\"", "whose state of the links (NIP, hRTT, W, N) is kept"),
    key("rtt_gain", "number", "0.25", "gain of the moving average of hRTT"),
    key("rtt_ageing", "true or false", "true", "halve the hRTT of an idle link as time passes"),
    key("link_dupthresh", "whole number", "1", "later arrivals on a link that make an earlier packet lost"),
    key(
        "tail_factor",
        "number",
        "1.5",
        "a packet out for this many round trips of its link is lost; 0 switches the rule off",
    ),
    key(
        "hold_max_rtts",
        "number",
        "4",
        "no ACK is held longer than this many times the largest hRTT; 0 for no limit",
    ),
    key(
        "hold_max_rto_share",
        "number",
        "0.75",
        "nor longer than this share of the sender's estimated timeout",
    ),
    key("mss_clamp", "size", "\"1436 B\"", "lower the MSS of passing SYNs to this; \"0 B\" leaves it"),
    key("flow_idle", "duration", "\"15 min\"", "a flow silent for so long is forgotten"),
    key("max_flows", "whole number", "20000", "most flows with state"),
    key("max_packets_per_flow", "whole number", "16384", "most packets recorded per flow"),
];
