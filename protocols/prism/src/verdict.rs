//! What the proxy tells its host to do with a packet.
use crate::ids::LinkId;
use prismux_wire::{LossReport, SeqNumber, TcpFlags, TcpHeader};

/// What becomes of one packet. The host drains these after every call.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict<P> {
    /// A packet towards the receiver: encapsulate it for `link` and send it at once.
    Forward {
        /// The link to use.
        link: LinkId,
        /// The packet.
        packet: P,
        /// What to change in it first.
        rewrite: DataRewrite,
        /// By this the host names the packet when the link's far end reports it lost; `None` for one that the proxy
        /// keeps no books of.
        position: Option<u32>,
    },
    /// A packet towards the sender: change it as `rewrite` says and send it upstream.
    Release {
        /// The packet.
        packet: P,
        /// What to change in it first.
        rewrite: AckRewrite,
    },
    /// A packet that goes nowhere.
    Drop {
        /// The packet.
        packet: P,
        /// Why.
        reason: DropReason,
    },
}

impl<P> Verdict<P> {
    /// Rewrites the packet, where it has its TCP header as a value; `header` finds that.
    pub fn rewrite(&mut self, header: impl FnOnce(&mut P) -> Option<&mut TcpHeader>) {
        match self {
            Self::Forward { packet, rewrite, .. } => {
                if let Some(header) = header(packet) {
                    rewrite.apply(header);
                }
            }
            Self::Release { packet, rewrite } => {
                if let Some(header) = header(packet) {
                    rewrite.apply(header);
                }
            }
            Self::Drop { .. } => {}
        }
    }
}

/// Why a packet was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DropReason {
    /// No link is up.
    NoLink,
    /// A pure ACK that says nothing new while others are held.
    RepeatedAck,
    /// The answer to a copy that the proxy sent to measure a link.
    ProbeAnswer,
    /// An ACK superseded by a later one (a released number already covers it).
    StaleAck,
    /// A retransmission of data that the receiver has, or that the proxy is resending itself.
    SpuriousRetransmission,
    /// Data that found the links full and no room to wait.
    NoRoom,
}

impl DropReason {
    /// The name used in traces and counters.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NoLink => "no-link",
            Self::RepeatedAck => "repeated-ack",
            Self::ProbeAnswer => "probe-answer",
            Self::StaleAck => "stale-ack",
            Self::SpuriousRetransmission => "spurious-retransmission",
            Self::NoRoom => "no-room",
        }
    }
}

/// Changes to a packet on its way to the receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DataRewrite {
    /// On a SYN: lower the MSS option to this if it is larger.
    pub mss_clamp: Option<u16>,
    /// On a copy that goes out late: raise TSval to this where it is below. The receiver has accepted a younger
    /// packet since and would take the copy for an old duplicate (PAWS, RFC 7323 section 5). No higher than that, or
    /// the copy would make old duplicates of packets that are still under way.
    pub tsval_at_least: Option<u32>,
}

impl DataRewrite {
    /// True when the packet goes out as it came.
    pub const fn is_identity(&self) -> bool {
        self.mss_clamp.is_none() && self.tsval_at_least.is_none()
    }

    /// The TSval that a packet with `header` must go out with, where that is not its own.
    pub fn new_tsval(&self, header: &TcpHeader) -> Option<u32> {
        let own = header.options.timestamps?.value;
        self.tsval_at_least.filter(|least| (own.wrapping_sub(*least) as i32) < 0)
    }

    /// Applies the change to a typed header.
    pub fn apply(&self, header: &mut TcpHeader) {
        if let Some(value) = self.new_tsval(header)
            && let Some(timestamps) = &mut header.options.timestamps
        {
            timestamps.value = value;
        }
        clamp_mss(header, self.mss_clamp);
    }
}

/// What to do with the SACK option of a released ACK.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SackRewrite {
    /// Leave it.
    #[default]
    Keep,
    /// Keep only this many blocks, the first ones (to make room for a loss report).
    Truncate(u8),
    /// Overwrite the option with NOPs.
    Remove,
}

/// Changes to a packet on its way to the sender. Every field holds the value that must be on the wire, whether
/// or not it differs from the original; the host recomputes checksums.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AckRewrite {
    /// The sequence number, of an ACK that waited while its receiver sent something.
    pub seq: Option<SeqNumber>,
    /// The acknowledgement number.
    pub ack: SeqNumber,
    /// The window field, before scaling.
    pub window: u16,
    /// TSval, where the packet has timestamps.
    pub tsval: Option<u32>,
    /// ECE and CWR bits to *add* (echoes of ACKs that were merged into this one).
    pub ecn_echo: TcpFlags,
    /// The SACK option.
    pub sack: SackRewrite,
    /// A loss report to insert.
    pub report: Option<LossReport>,
    /// On a SYN: lower the MSS option to this if it is larger.
    pub mss_clamp: Option<u16>,
}

impl AckRewrite {
    /// No change to a packet with `header`.
    pub fn identity(header: &TcpHeader) -> Self {
        Self {
            seq: None,
            ack: header.ack,
            window: header.window,
            tsval: header.options.timestamps.map(|t| t.value),
            ecn_echo: TcpFlags::default(),
            sack: SackRewrite::Keep,
            report: None,
            mss_clamp: None,
        }
    }

    /// Whether a packet with `header` goes out with another one.
    pub fn changes(&self, header: &TcpHeader) -> bool {
        let mut rewritten = *header;
        self.apply(&mut rewritten);
        rewritten != *header
    }

    /// Applies the change to a typed header.
    pub fn apply(&self, header: &mut TcpHeader) {
        header.seq = self.seq.unwrap_or(header.seq);
        header.ack = self.ack;
        header.window = self.window;
        header.flags |= self.ecn_echo;
        if let (Some(timestamps), Some(value)) = (&mut header.options.timestamps, self.tsval) {
            timestamps.value = value;
        }
        match self.sack {
            SackRewrite::Keep => {}
            SackRewrite::Truncate(count) => header.options.sack.truncate(usize::from(count)),
            SackRewrite::Remove => header.options.sack.truncate(0),
        }
        if self.report.is_some() {
            header.options.loss_report = self.report;
        }
        clamp_mss(header, self.mss_clamp);
    }
}

fn clamp_mss(header: &mut TcpHeader, clamp: Option<u16>) {
    if let (Some(mss), Some(limit)) = (&mut header.options.mss, clamp) {
        *mss = (*mss).min(limit);
    }
}
