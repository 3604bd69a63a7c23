//! The keys of `[radio]`, `[mobility]` and `[routing]`.
use super::{Key, key};

/// Keys of `[radio]`.
pub const RADIO: &[Key] = &[
    key("hosts", "list of nodes", "all hosts", "the nodes on the air"),
    key(
        "channels",
        "table of whole numbers, or of lists of them",
        "channel 1 for all",
        "the channel of each host: { a = 1, b = 6 }; hosts on different ones neither hear nor disturb one another. \
         With { c = [1, 6] } host c has a radio on each",
    ),
    key(
        "channel",
        "tables by number",
        "none",
        "settings of a channel in place of those here: `[radio.channel.36]`",
    ),
    key(
        "medium_access",
        "name",
        "\"ns-2\"",
        "who may send when; the keys below change single settings of it",
    ),
    key("data_rate", "rate", "that of `medium_access`", "rate of packets for one neighbour"),
    key("basic_rate", "rate", "that of `medium_access`", "rate of control frames and broadcasts"),
    key("rate_control", "name", "\"fixed\"", "how the rate of packets for one neighbour is found"),
    key(
        "rts_threshold",
        "size or \"off\"",
        "that of `medium_access`",
        "frames of at least this size, header included, ask with RTS first",
    ),
    key("short_retries", "whole number", "7", "attempts at an RTS, and at a packet below the RTS threshold"),
    key("long_retries", "whole number", "4", "attempts at a packet from the RTS threshold on"),
    key(
        "queue_packets",
        "whole number",
        "50",
        "packets that wait at a host: of each kind, where `interface_queue` has several",
    ),
    key("interface_queue", "name", "\"shared\"", "which packets wait together, and in which order they go"),
    key(
        "address_resolution",
        "name",
        "\"none\"",
        "how hosts learn which radio has the address of a neighbour",
    ),
    key("propagation", "name", "\"two-ray-ground\"", "mean power against distance"),
    key("exponent", "number", "3", "log-distance: the power of distance"),
    key("reference_m", "number", "1", "log-distance: where it begins, in metres"),
    key(
        "shadowing_db",
        "number",
        "0",
        "log-distance: standard deviation of the power of a frame, in decibels",
    ),
    key("fading", "name", "\"none\"", "random power on top of that"),
    key("nakagami_m", "number", "3", "nakagami: shape of the fading, 1 is as bad as rayleigh"),
    key("range_m", "number", "250", "distance at which the mean power just suffices to receive, in metres"),
    key("sense_m", "number", "550", "distance at which it just counts as carrier, in metres"),
    key("reception", "name", "\"capture\"", "what becomes of frames that overlap"),
    key(
        "capture_db",
        "number",
        "10",
        "capture: a frame so much stronger than one that begins later is received",
    ),
    key("noise_dbm", "number", "-94", "error-curves: noise in the channel, in decibels above 1 mW"),
    key("sleep_period", "duration", "none", "radios wake once in such a period, all at once; needs `awake`"),
    key("awake", "duration", "required with `sleep_period`", "how long radios are awake in each period"),
    key("aggregation", "table", "none", "several packets for one neighbour go together; 802.11a, g and n"),
    key("polling", "table", "none", "contention-free periods, in which an access point polls"),
    key("slots", "table", "none", "a timetable: hosts send in slots of their own, and do not contend"),
    key("energy", "table", "none", "what radios draw, and from which batteries: energy is counted"),
    key("cells", "table", "none", "base stations, between which the other hosts on the air hand over"),
];

/// What a channel has in common with the others, unless it says otherwise.
const THAT_OF_RADIO: &str = "that of `[radio]`";

/// The same, unless it has a medium access of its own.
const ANEW: &str = "that of `[radio]`, or of `medium_access`";

/// Keys of `[radio.channel.NUMBER]`.
pub const CHANNEL: &[Key] = &[
    key("medium_access", "name", THAT_OF_RADIO, "who may send when; with it the next five keys begin anew"),
    key("data_rate", "rate", ANEW, "rate of packets for one neighbour"),
    key("basic_rate", "rate", ANEW, "rate of control frames and broadcasts"),
    key("rts_threshold", "size or \"off\"", ANEW, "frames of at least this size ask with RTS first"),
    key("rate_control", "name", ANEW, "how the rate of packets for one neighbour is found"),
    key("aggregation", "table", ANEW, "several packets for one neighbour go together"),
    key("short_retries", "whole number", THAT_OF_RADIO, "attempts at an RTS, and at a short packet"),
    key("long_retries", "whole number", THAT_OF_RADIO, "attempts at a long packet"),
    key("queue_packets", "whole number", THAT_OF_RADIO, "packets that wait at a radio"),
    key("interface_queue", "name", THAT_OF_RADIO, "which packets wait together, and in which order they go"),
    key("propagation", "name", THAT_OF_RADIO, "mean power against distance"),
    key("exponent", "number", THAT_OF_RADIO, "log-distance: the power of distance"),
    key("reference_m", "number", THAT_OF_RADIO, "log-distance: where it begins, in metres"),
    key("shadowing_db", "number", THAT_OF_RADIO, "log-distance: standard deviation of the power of a frame"),
    key("fading", "name", THAT_OF_RADIO, "random power on top of that"),
    key("nakagami_m", "number", THAT_OF_RADIO, "nakagami: shape of the fading"),
    key(
        "range_m",
        "number",
        THAT_OF_RADIO,
        "distance at which the mean power just suffices to receive, in metres",
    ),
    key("sense_m", "number", THAT_OF_RADIO, "distance at which it just counts as carrier, in metres"),
    key("reception", "name", THAT_OF_RADIO, "what becomes of frames that overlap"),
    key("capture_db", "number", THAT_OF_RADIO, "capture: how much stronger a frame must be"),
    key("noise_dbm", "number", THAT_OF_RADIO, "error-curves: noise in the channel"),
];

/// Keys of `[radio.aggregation]`.
pub const AGGREGATION: &[Key] = &[
    key("packets", "whole number", "64", "most packets in one transmission, 1 to 64"),
    key("bytes", "size", "65535 B", "most bytes in it, headers and delimiters included"),
    key("airtime", "duration", "5484 us", "longest time on the air"),
];

/// Keys of `[radio.polling]`.
pub const POLLING: &[Key] = &[
    key(
        "access_point",
        "node, or list of nodes",
        "required",
        "who polls; several do so on channels of their own, each those who share its channel",
    ),
    key("stations", "list of nodes", "all others on its channel", "who is polled, in order"),
    key(
        "channel",
        "whole number",
        "the first of the access point",
        "where it polls; on other channels hosts contend",
    ),
    key(
        "period",
        "duration",
        "100 ms",
        "from the beginning of one contention-free period to that of the next",
    ),
    key(
        "max_duration",
        "duration",
        "50 ms",
        "how long such a period lasts at most; it ends when nobody has anything to send",
    ),
];

/// Keys of `[radio.slots]`.
pub const SLOTS: &[Key] = &[
    key(
        "owners",
        "list of nodes",
        "required",
        "the owner of each slot, in order; after the last the first begins again",
    ),
    key(
        "slot",
        "duration",
        "required",
        "how long a slot is: as many packets go in it as end before its guard time",
    ),
    key("guard", "duration", "10 us", "the part at the end of each slot in which nobody sends"),
    key(
        "channel",
        "whole number",
        "the first ones of the owners",
        "where the timetable holds; on other channels hosts contend",
    ),
];

/// Keys of `[radio.cells]`.
pub const CELLS: &[Key] = &[
    key(
        "base_stations",
        "list of nodes",
        "required",
        "routers that are on the air as well as on their links",
    ),
    key("measured_every", "duration", "100 ms", "how often a host measures the power of all base stations"),
    key(
        "filter_coefficient",
        "whole number",
        "4",
        "k, 0 to 19: a measurement weighs 2^(-k/4) against those before it; with 0 it stands alone",
    ),
    key("hysteresis_db", "number", "3", "by how much another base station must be better, 0 to 20 decibels"),
    key("time_to_trigger", "duration", "160 ms", "for how long it must have been"),
    key("gap", "duration", "50 ms", "how long a host has no link while it changes"),
    key(
        "forwarding",
        "true or false",
        "false",
        "what a base station has for a host that has left goes after it by wire; else it is lost",
    ),
    key(
        "fallback",
        "table of links",
        "none",
        "the link that a host uses where it hears no base station: { mobile = \"wwan\" }",
    ),
    key(
        "relay_below_db",
        "number",
        "none",
        "hosts relay for one that hears its base station by less than this above what suffices, in decibels",
    ),
];

/// Keys of `[radio.energy]`.
pub const ENERGY: &[Key] = &[
    key("transmit_w", "number", "0.66", "power while sending, in watts"),
    key("receive_w", "number", "0.395", "power while hearing signals, in watts"),
    key("idle_w", "number", "0", "power while awake and nothing happens, in watts"),
    key("sleep_w", "number", "0", "power while asleep, in watts"),
    key(
        "amplifier_efficiency",
        "number",
        "none",
        "sending draws what must be radiated for `range_m`, divided by this, on top of `transmit_w`",
    ),
    key("battery_j", "number", "none", "what the battery of each host holds, in joules"),
    key("mains", "list of nodes", "none", "hosts that need no battery"),
];

/// Keys of `[mobility]`.
pub const MOBILITY: &[Key] = &[
    key("model", "name", "required", "how hosts move"),
    key(
        "area_m",
        "two numbers",
        "required, but for files, and where all have `places`",
        "width and height of the area, in metres; hosts that a file or `places` put outside are an error",
    ),
    key(
        "places",
        "table of two numbers each, or of lists of three",
        "random",
        "places of hosts that stay, in metres: { a = [0, 0] }, or walk: { b = [[SECONDS, x, y], ...] }; the others are \
         where the seed puts them, or move",
    ),
    key("speed_m_per_s", "two numbers", "[0.1, 10]", "lowest and highest speed, in metres per second"),
    key("pause", "duration", "0 s", "random-waypoint: pause at each place"),
    key("start", "name", "\"steady\"", "random-waypoint: how it begins"),
    key("memory", "number", "0.75", "gauss-markov: 0 for none, 1 for a straight line"),
    key("interval", "duration", "1 s", "gauss-markov: how long speed and direction hold"),
    key("blocks", "two numbers", "[5, 5]", "manhattan: blocks from west to east, and from south to north"),
    key("file", "file", "required for files", "movement file, path relative to the scenario"),
];

/// Keys of `[routing]`.
pub const ROUTING: &[Key] = &[
    key("protocol", "name", "\"dsr\"", "who finds routes"),
    key(
        "compare_hops",
        "true or false",
        "false",
        "count the hops of each packet that arrives, and the fewest that were possible then",
    ),
];
