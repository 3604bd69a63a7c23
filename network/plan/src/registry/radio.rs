//! Names of radios, medium access, mobility and routing.
use super::{Name, name};
use crate::Routing;
use prismux_aodv::AodvConfig;
use prismux_dsdv::DsdvConfig;
use prismux_dsr::DsrConfig;
use prismux_wireless::{
    AddressResolution, ArfConfig, Fading, HtFormat, MacConfig, Propagation, QueueRule, RateControl,
    Reception, WaypointStart,
};

/// Medium access of whole standards; single keys change them.
pub const MEDIUM_ACCESS: &[Name<fn() -> MacConfig>] = &[
    name(
        "ns-2",
        MacConfig::ns2 as fn() -> MacConfig,
        "ns-2.35's 802.11: 2 Mbit/s, control frames at 1 Mbit/s, RTS before every packet for a neighbour",
    ),
    name("802.11b", MacConfig::dsss, "11 Mbit/s by the standard's rules, without RTS"),
    name("802.11a", MacConfig::ofdm, "54 Mbit/s by the standard's rules, without RTS"),
    name("802.11g", MacConfig::erp_ofdm, "54 Mbit/s among stations of its own kind, without RTS"),
    name(
        "802.11n",
        || MacConfig::ht(HtFormat::Mixed),
        "150 Mbit/s behind preambles that older stations understand",
    ),
    name("802.11n-greenfield", || MacConfig::ht(HtFormat::Greenfield), "the same with preambles of its own"),
];

/// Which packets wait together for the medium.
pub const INTERFACE_QUEUES: &[Name<QueueRule>] = &[
    name(
        "shared",
        QueueRule::Shared,
        "one queue; packets of routing protocols go first and displace the newest of the others",
    ),
    name(
        "by-kind",
        QueueRule::ByKind,
        "a queue each for routing, acknowledgements of TCP and the rest, in this order: ns-2's with its DSR",
    ),
];

/// How hosts learn which radio has the address of a neighbour.
pub const ADDRESS_RESOLUTION: &[Name<AddressResolution>] = &[
    name("none", AddressResolution::None, "they know"),
    name(
        "arp",
        AddressResolution::Arp,
        "they ask (RFC 826), and keep the latest packet for a neighbour until it answers (RFC 1122)",
    ),
    name(
        "ns-2",
        AddressResolution::Ns2,
        "they ask as in ns-2.35: without a timer, again with each packet; the fourth fails",
    ),
];

/// How the rate of packets for a neighbour is found.
pub const RATE_CONTROL: &[Name<RateControl>] = &[
    name("fixed", RateControl::Fixed, "`data_rate` for every packet"),
    name(
        "arf",
        RateControl::Arf(ArfConfig::kamerman_monteban()),
        "automatic rate fallback up to `data_rate`; the slowest rate reaches `range_m`, faster ones less far",
    ),
];

/// Mean power against distance; `exponent`, `reference_m` and `shadowing_db` belong to the last.
pub const PROPAGATION: &[Name<Propagation>] = &[
    name(
        "two-ray-ground",
        Propagation::TwoRayGround,
        "free space near, the fourth power of distance far away",
    ),
    name("free-space", Propagation::FreeSpace, "the square of distance"),
    name(
        "log-distance",
        Propagation::LogDistance { exponent: 3.0, reference_m: 1.0, shadowing_db: 0.0 },
        "a power of distance of one's own, with shadowing",
    ),
];

/// Fast fading.
pub const FADING: &[Name<Fading>] = &[
    name("none", Fading::None, "power follows from distance"),
    name("rayleigh", Fading::Rayleigh, "no line of sight"),
    name("nakagami", Fading::Nakagami { m: 3.0 }, "milder the larger `nakagami_m` is"),
];

/// What becomes of frames that overlap; `capture_db` belongs to the first, `noise_dbm` to the second.
pub const RECEPTION: &[Name<Reception>] = &[
    name(
        "capture",
        Reception::Capture { ratio: 10.0 },
        "ns-2's rule: one frame is so much stronger than those that begin later, or all are lost",
    ),
    name(
        "error-curves",
        Reception::ErrorCurves { noise_w: 3.98e-13 },
        "noise and interference make bits wrong by chance; for the rates of 802.11b",
    ),
];

/// How hosts move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MobilityModel {
    /// At given places, or at random ones.
    Static,
    /// From one random place to the next.
    RandomWaypoint,
    /// Speed and direction remember what they were.
    GaussMarkov,
    /// Along the streets of a grid.
    Manhattan,
    /// By an ns-2 movement file.
    Ns2File,
    /// By a file of places over time.
    CsvFile,
}

/// Mobility models.
pub const MOBILITY: &[Name<MobilityModel>] = &[
    name("static", MobilityModel::Static, "hosts stay: at `places`, or where the seed puts them in the area"),
    name(
        "random-waypoint",
        MobilityModel::RandomWaypoint,
        "to a random place at a random speed, a pause, and on",
    ),
    name("gauss-markov", MobilityModel::GaussMarkov, "speed and direction change gradually"),
    name("manhattan", MobilityModel::Manhattan, "along the streets of a grid"),
    name(
        "ns2-file",
        MobilityModel::Ns2File,
        "an ns-2 movement file, as `setdest`, BonnMotion and SUMO write it",
    ),
    name(
        "csv-file",
        MobilityModel::CsvFile,
        "lines of `time_s,host,x_m,y_m` or, with such a heading, `time_s,host,lat,lon` in degrees",
    ),
];

/// Where random waypoint begins.
pub const WAYPOINT_STARTS: &[Name<WaypointStart>] = &[
    name("steady", WaypointStart::Steady, "in the state that the model settles in"),
    name(
        "uniform",
        WaypointStart::Uniform,
        "at uniform places, as the generators of 2000 did: hosts slow down",
    ),
];

/// Routing protocols of ad-hoc networks, with their settings.
pub const ROUTING: &[Name<Routing>] = &[
    name("dsr", Routing::Dsr(DsrConfig::rfc4728()), "Dynamic Source Routing (RFC 4728)"),
    name("dsr-ns2", Routing::Dsr(DsrConfig::ns2()), "DSR as ns-2.35 has it, path cache and all"),
    name(
        "dsr-ns2-strict",
        Routing::Dsr(DsrConfig::ns2_strict()),
        "the same with more of its habits: flow state, and each packet overheard once",
    ),
    name(
        "dsr-cache-off",
        Routing::Dsr(DsrConfig::cache_off()),
        "DSR that remembers no route, as TCP-DOOR needs it",
    ),
    name(
        "dsr-cache-off-flood",
        Routing::Dsr(DsrConfig::cache_off_flood()),
        "the same without questions to neighbours alone: each packet floods the network",
    ),
    name("aodv", Routing::Aodv(AodvConfig::rfc3561()), "Ad hoc On-Demand Distance Vector routing (RFC 3561)"),
    name("aodv-ns2", Routing::Aodv(AodvConfig::ns2()), "AODV with the parameters of ns-2.35"),
    name(
        "dsdv",
        Routing::Dsdv(DsdvConfig::sigcomm1994()),
        "Destination-Sequenced Distance Vector routing (Perkins and Bhagwat, 1994)",
    ),
    name(
        "dsdv-ns2",
        Routing::Dsdv(DsdvConfig::ns2()),
        "DSDV as ns-2.35 has it: each new number delays a route",
    ),
    name("dsdv-sq", Routing::Dsdv(DsdvConfig::dsdv_sq()), "DSDV that tells of new sequence numbers at once"),
    name("direct", Routing::Direct, "none: all whom a host talks to are its neighbours"),
];
