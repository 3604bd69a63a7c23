//! How the kernel's TCP is to behave for a flow.
use prismux_linux::netlink::RouteMetrics;
use prismux_plan::{Congestion, TcpSettings};
use prismux_tcp::TcpProfile;
use prismux_units::{ByteCount, Duration};

/// Settings of the kernel's TCP; `None` leaves what the running kernel does.
///
/// Congestion control and window belong to a socket, the rest to the node's whole namespace or to its routes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct KernelTcp {
    /// Congestion control as the kernel names it ("cubic", "reno", "bbr").
    pub congestion: Option<String>,
    /// Maximum segment size in bytes, options not included (RFC 6691).
    pub mss_bytes: Option<u16>,
    /// The receiver's window never exceeds this.
    pub window: Option<ByteCount>,
    /// Nagle's algorithm.
    pub nagle: Option<bool>,
    /// Selective acknowledgements.
    pub sack: Option<bool>,
    /// Duplicate SACK, and what is undone by it.
    pub dsack: Option<bool>,
    /// Timestamps.
    pub timestamps: Option<bool>,
    /// RACK loss detection.
    pub rack: Option<bool>,
    /// Tail loss probes and early retransmit.
    pub tlp: Option<bool>,
    /// F-RTO (RFC 5682): undo of spurious timeouts.
    pub frto: Option<bool>,
    /// Duplicate ACKs that mean a loss, and whether that number may grow with observed reordering.
    pub dup_threshold: Option<u32>,
    /// Initial congestion window in segments.
    pub initial_window_segments: Option<u32>,
    /// Least retransmission timeout.
    pub min_rto: Option<Duration>,
    /// Acknowledge every segment at once.
    pub quick_ack: bool,
    /// Explicit congestion notification, asked for and granted.
    pub ecn: Option<bool>,
}

impl KernelTcp {
    /// Profile and single switches, as far as a kernel has them.
    pub fn of(settings: &TcpSettings) -> Self {
        let mut tcp = match settings.profile {
            TcpProfile::Modern => KernelTcp::modern("cubic"),
            TcpProfile::Linux24 | TcpProfile::Ns2_2002 => KernelTcp::linux_24(),
        };
        if settings.profile == TcpProfile::Ns2_2002 {
            (tcp.mss_bytes, tcp.quick_ack) = (Some(1000), true);
        }
        if let Some(congestion) = settings.congestion {
            let name = match congestion {
                Congestion::Cubic => "cubic",
                Congestion::NewReno => "reno",
                Congestion::Bbr => "bbr",
                // Refused before.
                Congestion::Bbr3 | Congestion::Stp => "cubic",
            };
            tcp.congestion = Some(name.to_string());
        }
        put(&mut tcp.mss_bytes, settings.mss);
        put(&mut tcp.window, settings.window);
        put(&mut tcp.initial_window_segments, settings.initial_window);
        put(&mut tcp.sack, settings.sack);
        if settings.sack == Some(false) {
            // Both build on SACK.
            (tcp.dsack, tcp.rack) = (Some(false), Some(false));
        }
        put(&mut tcp.timestamps, settings.timestamps);
        put(&mut tcp.min_rto, settings.min_rto);
        put(&mut tcp.dup_threshold, settings.dup_threshold);
        put(&mut tcp.rack, settings.rack);
        put(&mut tcp.tlp, settings.tlp);
        put(&mut tcp.nagle, settings.nagle);
        put(&mut tcp.ecn, settings.ecn);
        if let Some(undo) = settings.undo {
            (tcp.dsack, tcp.frto) = (Some(undo), Some(undo));
        }
        tcp.quick_ack |= settings.delayed_ack == Some(Duration::ZERO);
        tcp
    }

    /// The running kernel's TCP with the given congestion control.
    pub fn modern(congestion: &str) -> Self {
        Self { congestion: Some(congestion.to_owned()), ..Self::default() }
    }

    /// The nearest to the "vanilla" TCP of 2002 to 2005 that a current kernel offers: Reno with three duplicate ACKs
    /// and an initial window of 2; no RACK, tail loss probes, adaptation to reordering, or undo, for which DSACK,
    /// F-RTO and timestamps (Eifel) are off. Proportional rate reduction cannot be switched off.
    pub fn linux_24() -> Self {
        Self {
            congestion: Some("reno".to_owned()),
            dsack: Some(false),
            timestamps: Some(false),
            rack: Some(false),
            tlp: Some(false),
            frto: Some(false),
            dup_threshold: Some(3),
            initial_window_segments: Some(2),
            ..Self::default()
        }
    }

    /// Settings below `/proc/sys/net` for a node where such a flow ends.
    pub(crate) fn sysctls(&self) -> Vec<(&'static str, String)> {
        let flag = |value: bool| u8::from(value).to_string();
        let mut settings = Vec::new();
        let mut set = |key, value: Option<String>| settings.extend(value.map(|value| (key, value)));
        set("ipv4/tcp_sack", self.sack.map(flag));
        set("ipv4/tcp_dsack", self.dsack.map(flag));
        set("ipv4/tcp_timestamps", self.timestamps.map(flag));
        set("ipv4/tcp_recovery", self.rack.map(flag));
        // 3 is the kernel's own choice: probes, and early retransmit with a delay.
        set("ipv4/tcp_early_retrans", self.tlp.map(|on| if on { "3" } else { "0" }.to_owned()));
        set("ipv4/tcp_frto", self.frto.map(|on| if on { "2" } else { "0" }.to_owned()));
        set("ipv4/tcp_reordering", self.dup_threshold.map(|n| n.to_string()));
        set("ipv4/tcp_max_reordering", self.dup_threshold.map(|n| n.to_string()));
        // 2 is the kernel's own choice: grant it, do not ask.
        set("ipv4/tcp_ecn", self.ecn.map(flag));
        settings
    }

    /// True when both flows can end at one node.
    pub(crate) fn agrees_with(&self, other: &Self) -> bool {
        self.sysctls() == other.sysctls() && self.route_metrics() == other.route_metrics()
    }

    /// What a node's routes carry: segment size, initial window, least timeout, quick ACKs.
    pub(crate) fn route_metrics(&self) -> RouteMetrics {
        RouteMetrics {
            mss_bytes: self.mss_bytes.map(u32::from),
            initial_window_segments: self.initial_window_segments,
            min_rto_ms: self.min_rto.map(|rto| u32::try_from(rto.as_millis()).unwrap_or(u32::MAX)),
            quick_ack: self.quick_ack,
        }
    }
}

fn put<T>(setting: &mut Option<T>, value: Option<T>) {
    if value.is_some() {
        *setting = value;
    }
}
