//! A sender on a stage: the test plays its peer, packet by packet.
use prismux_endpoint::Endpoint;
use prismux_tcp::{Connection, SegmentIn, SegmentOut, TcpConfig};
use prismux_tcp_ho::{HandoffConfig, HandoffCounters, HandoffServer};
use prismux_units::{Duration, Instant};
use prismux_wire::{Ecn, HandoffNotice, SackBlock, SeqNumber, TcpFlags, TcpHeader};

pub const OURS: SeqNumber = SeqNumber(u32::MAX - 3000);
pub const THEIRS: SeqNumber = SeqNumber(77);
pub const SEGMENT: u32 = 1000;

/// A sender of 1000-byte segments after its handshake, with a round trip of 100 ms.
pub struct Stage {
    pub connection: Connection,
    pub now: Instant,
}

/// Something the peer says.
#[derive(Debug, Clone, Copy, Default)]
pub struct Say {
    pub ack: u32,
    pub notice_kbps: Option<u32>,
    pub sack: Option<(u32, u32)>,
    pub ecn_echo: bool,
}

impl Stage {
    pub fn new(config: TcpConfig) -> Self {
        Self::with(config, HandoffConfig::default())
    }

    pub fn with(config: TcpConfig, handoff: HandoffConfig) -> Self {
        let mut stage = Self::plain(config);
        stage.connection.set_extension(Box::new(HandoffServer::new(handoff)));
        stage
    }

    /// Without TCP-HO.
    pub fn plain(config: TcpConfig) -> Self {
        // Timestamps off: the test says which segments give samples (Karn).
        let config = TcpConfig { timestamps: false, mss: 1000, ..config };
        let ecn = config.ecn;
        let now = Instant::from_millis(1000);
        let mut connection = Connection::connect(config, 1, 2, OURS, now);
        connection.poll_transmit(now).expect("SYN");
        let mut stage = Self { connection, now };
        stage.pass_ms(100);
        let mut syn_ack = segment(Say::default());
        syn_ack.header.seq = THEIRS;
        syn_ack.header.flags |= TcpFlags::SYN;
        if ecn {
            syn_ack.header.flags |= TcpFlags::ECE;
        }
        syn_ack.header.options.mss = Some(1000);
        syn_ack.header.options.sack_permitted = true;
        stage.connection.handle_input(now + Duration::from_millis(100), syn_ack);
        stage
    }

    pub fn pass_ms(&mut self, ms: u64) {
        self.now += Duration::from_millis(ms);
    }

    /// Everything the sender wants to send now: (offset, bytes).
    pub fn sent(&mut self) -> Vec<(u64, u32)> {
        let mut sent = Vec::new();
        while let Some(out) = self.connection.poll_transmit(self.now) {
            sent.extend((out.payload_bytes > 0).then_some((out.stream_offset, out.payload_bytes)));
        }
        while self.connection.poll_event().is_some() {}
        sent
    }

    pub fn write(&mut self, bytes: u64) -> Vec<(u64, u32)> {
        self.connection.write(bytes);
        self.sent()
    }

    pub fn hear(&mut self, say: Say) -> Vec<(u64, u32)> {
        self.connection.handle_input(self.now, segment(say));
        self.sent()
    }

    pub fn ack(&mut self, ack: u32) -> Vec<(u64, u32)> {
        self.hear(Say { ack, ..Say::default() })
    }

    pub fn notice(&mut self, ack: u32, kbps: u32) -> Vec<(u64, u32)> {
        self.hear(Say { ack, notice_kbps: Some(kbps), ..Say::default() })
    }

    /// Lets `ms` pass in silence, timers included; how often the sender spoke.
    pub fn silence_ms(&mut self, ms: u64) -> usize {
        let end = self.now + Duration::from_millis(ms);
        let mut spoken = 0;
        while let Some(deadline) = self.connection.poll_timeout().filter(|deadline| deadline.at <= end) {
            self.now = deadline.at;
            self.connection.handle_timeout(self.now);
            spoken += self.sent().len();
        }
        self.now = end;
        spoken
    }

    pub fn counters(&self) -> HandoffCounters {
        *self.server().counters()
    }

    pub fn server(&self) -> &HandoffServer {
        self.connection.extension().expect("a TCP-HO sender")
    }

    pub fn threshold(&self) -> u64 {
        self.connection.metrics().engine.ssthresh_bytes
    }

    pub fn rto(&self) -> Duration {
        self.connection.metrics().engine.rto
    }
}

fn segment(say: Say) -> SegmentIn {
    let mut header = TcpHeader {
        seq: THEIRS + 1,
        ack: OURS + 1 + say.ack,
        flags: TcpFlags::ACK,
        window: 60_000,
        ..TcpHeader::default()
    };
    if say.ecn_echo {
        header.flags |= TcpFlags::ECE;
    }
    header.options.handoff = say.notice_kbps.map(|bandwidth_kbps| HandoffNotice { bandwidth_kbps });
    if let Some((start, end)) = say.sack {
        header.options.sack.push(SackBlock { start: OURS + 1 + start, end: OURS + 1 + end });
    }
    SegmentIn { header, payload_bytes: 0, ecn: Ecn::NotEct }
}

/// The ACK of a segment that the host has received or sends.
pub fn is_duplicate_ack(first: &SegmentOut, second: &SegmentOut) -> bool {
    let same = |a: &TcpHeader, b: &TcpHeader| (a.ack, a.window, a.seq) == (b.ack, b.window, b.seq);
    first.payload_bytes == 0 && second.payload_bytes == 0 && same(&first.header, &second.header)
}
