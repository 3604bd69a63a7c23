//! Targets for RCP: its header as bytes, and both ends under hostile packets.
use prismux_endpoint::Endpoint;
use prismux_rcp::header::{RequestBlock, RequestBlocks};
use prismux_rcp::{
    PacketIn, PacketOut, RcpConfig, RcpEvent, RcpFlags, RcpHeader, RcpOptions, Receiver, Sender, StreamEvent,
};
use prismux_units::{ByteCount, Duration, Instant, Rate};
use prismux_wire::{Ecn, SeqNumber, Timestamps};

/// What can be read can be written and read again as the same value.
pub fn header(data: &[u8]) {
    let Ok((header, length)) = RcpHeader::parse(data) else { return };
    assert!(length <= data.len());
    let mut out = [0; 64];
    let written = header.emit(&mut out).expect("what fitted once fits again");
    assert_eq!(written, header.wire_bytes());
    assert!(written <= length, "we write no longer than others");
    assert_eq!(RcpHeader::parse(&out[..written]), Ok((header, written)));
}

/// Headers of every kind.
pub(super) fn headers() -> Vec<Vec<u8>> {
    let mut blocks = RequestBlocks::default();
    let mut lists = vec![RcpOptions::default()];
    for number in 1..4 {
        blocks.push(RequestBlock { start: SeqNumber(number * 1000), end: SeqNumber(number * 1000 + 500) });
        let timestamps = (number != 2).then_some(Timestamps { value: 5, echo: number });
        lists.push(RcpOptions { timestamps, blocks, ..RcpOptions::default() });
    }
    lists.push(RcpOptions {
        mss: Some(1460),
        window_scale: Some(7),
        timestamps: Some(Timestamps { value: 1, echo: 0 }),
        token: Some(0x0102_0304_0506_0708),
        start: 1 << 40,
        ..RcpOptions::default()
    });
    let flags = [0, 1, 3, 4, 6, 8, 16, 20, 24, 48, 65].map(RcpFlags);
    let mut seeds = Vec::new();
    for options in lists {
        for flags in flags {
            let proof = RcpHeader::under(0x1122_3344_5566_7788, flags);
            let header = RcpHeader { flags, window: 77, number: SeqNumber(9), proof, options };
            let mut out = [0; 64];
            if let Ok(length) = header.emit(&mut out) {
                seeds.push(out[..length].to_vec());
            }
        }
    }
    seeds
}

const STEP_BYTES: usize = 8;
const TOKEN: u64 = 0xfedc_ba98_7654_3210;
const SENDER_INITIAL: SeqNumber = SeqNumber(0xffff_f800);
const RECEIVER_INITIAL: SeqNumber = SeqNumber(7);
const SEGMENT_BYTES: u32 = 500;

/// A sender and a receiver, each under packets that a program makes up; what they send to each other may be
/// delivered, or not, in any order.
pub fn ends(data: &[u8]) {
    let Some((&set_up, program)) = data.split_first() else { return };
    let mut play = Play::new(set_up);
    for step in program.chunks_exact(STEP_BYTES).take(300) {
        play.step(step);
    }
}

/// Programs: transfers in lockstep, with disturbances.
pub(super) fn programs() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for set_up in [0u8, 1, 6, 15, 31] {
        let mut program = vec![set_up];
        for round in 0..40u8 {
            program.extend([round % 12, 3, round, 16, 2, round, 8, round]);
            program.extend([1, 1, 0, 0, 0, 0, 0, 0]);
            program.extend([0, 1, 0, 0, 0, 0, 0, 0]);
        }
        seeds.push(program);
    }
    seeds
}

struct Play {
    now: Instant,
    sender: Sender,
    receiver: Receiver,
    to_sender: Vec<PacketOut>,
    to_receiver: Vec<PacketOut>,
    purged: u64,
    readable: u64,
}

impl Play {
    fn new(set_up: u8) -> Self {
        let mut config = RcpConfig::modern();
        config.mss = SEGMENT_BYTES as u16 + 12;
        config.timestamps = set_up & 1 != 0;
        config.ecn = set_up & 2 != 0;
        config.consume_on_arrival = set_up & 4 != 0;
        config.receive_buffer = ByteCount::new(20_000);
        config.max_out_of_order_ranges = 8;
        config.rate_cap = (set_up & 8 != 0).then_some(Rate::from_kbps(100));
        let now = Instant::ZERO;
        let mut receiver = Receiver::connect(config.clone(), RECEIVER_INITIAL, now);
        let syn = receiver.poll_transmit(now).expect("it opens");
        let mut sender = Sender::accept(config, &syn.header, SENDER_INITIAL, TOKEN, now);
        sender.write(100_000);
        if set_up & 16 != 0 {
            sender.finish();
        }
        let (to_sender, to_receiver) = (Vec::new(), Vec::new());
        let mut play = Self { now, sender, receiver, to_sender, to_receiver, purged: 0, readable: 0 };
        play.drain();
        play
    }

    fn step(&mut self, step: &[u8]) {
        self.now += Duration::from_micros((1 << (step[1] & 31)) - 1);
        let now = self.now;
        let at = usize::from(step[2]);
        match step[0] % 12 {
            0 if !self.to_sender.is_empty() => {
                let packet = self.to_sender.remove(at % self.to_sender.len());
                self.sender.handle_input(now, input(&packet, Ecn::NotEct));
            }
            1 if !self.to_receiver.is_empty() => {
                let packet = self.to_receiver.remove(at % self.to_receiver.len());
                self.receiver.handle_input(now, input(&packet, Ecn::from_bits(step[3])));
            }
            2 => self.sender.handle_input(now, forge(step, 0)),
            3 => self.receiver.handle_input(now, forge(step, u32::from(step[7]) * 4)),
            4 => self.sender.handle_timeout(now),
            5 => self.receiver.handle_timeout(now),
            6 => self.receiver.read(u64::from(step[2]) * 64),
            7 => self.receiver.freeze(),
            8 => self.receiver.thaw(now),
            9 => self.sender.write(u64::from(step[2]) * 16),
            10 => {
                let start = u64::from(step[2]) * 100;
                self.receiver.lost_by_link(now, start..start + u64::from(step[3]) * 10);
            }
            11 if step[2] > 200 => self.sender.finish(),
            _ => {}
        }
        self.drain();
    }

    fn drain(&mut self) {
        let now = self.now;
        for _ in 0..10_000 {
            let Some(packet) = self.sender.poll_transmit(now) else { break };
            let end = packet.stream_offset + u64::from(packet.payload_bytes);
            assert!(end <= self.sender.stream_written(), "only what was written is sent");
            self.to_receiver.push(packet);
        }
        assert_eq!(self.sender.poll_transmit(now), None, "the sender comes to an end");
        for _ in 0..10_000 {
            let Some(packet) = self.receiver.poll_transmit(now) else { break };
            self.to_sender.push(packet);
        }
        assert_eq!(self.receiver.poll_transmit(now), None, "the receiver comes to an end");
        while let Some(event) = self.sender.poll_event() {
            if let RcpEvent::Purged { up_to } = event {
                assert!(up_to > self.purged && up_to <= self.sender.stream_written());
                self.purged = up_to;
            }
        }
        while let Some(event) = self.receiver.poll_event() {
            if let RcpEvent::Stream(StreamEvent::Readable { up_to }) = event {
                assert!(up_to > self.readable);
                self.readable = up_to;
            }
        }
        self.receiver.pipe().engine().audit().expect("the engine's books are in order");
        let outstanding = self.receiver.metrics().engine.outstanding_bytes;
        assert!(outstanding <= 20_000 + u64::from(SEGMENT_BYTES), "{outstanding} bytes asked for");
        self.to_sender.truncate(200);
        self.to_receiver.truncate(200);
    }
}

fn input(packet: &PacketOut, ecn: Ecn) -> PacketIn {
    PacketIn { header: packet.header, payload_bytes: packet.payload_bytes, ecn }
}

/// A packet made up, mostly under the token: an attacker on the path.
fn forge(step: &[u8], payload_bytes: u32) -> PacketIn {
    let flags = RcpFlags(step[2] & 0x7f);
    let number = SENDER_INITIAL + 1 + u32::from(step[3]) * 500 + u32::from(step[4] & 3);
    let mut blocks = RequestBlocks::default();
    for byte in &step[4..4 + usize::from(step[5] & 3)] {
        let start = SENDER_INITIAL + 1 + u32::from(*byte) * 500;
        blocks.push(RequestBlock { start, end: start + 500 });
    }
    let token = if step[5] > 240 { 1 } else { TOKEN };
    let header = RcpHeader {
        flags,
        window: u16::from(step[6]) << 8,
        number,
        proof: RcpHeader::under(token, flags),
        options: RcpOptions {
            blocks,
            timestamps: Some(Timestamps { value: 3, echo: u32::from(step[5]) * 100 }),
            token: (step[6] & 1 != 0).then_some(TOKEN),
            mss: (step[6] & 2 != 0).then_some(u16::from(step[5]) * 3),
            ..RcpOptions::default()
        },
    };
    PacketIn { header, payload_bytes, ecn: Ecn::NotEct }
}
