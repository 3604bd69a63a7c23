//! TCP options between typed form and bytes.
use crate::error::WireError;
use crate::ip::{put, word16, word32};
use crate::seq::SeqNumber;
use crate::tcp_header::{
    DeliveryOrder, HandoffNotice, KeepFactor, LossReport, SackBlock, SackBlocks, TcpOptions, Timestamps,
};

/// Option kinds (RFC 9293 section 3.2, RFC 7323, RFC 2018, RFC 6994).
pub(crate) mod kind {
    pub const END: u8 = 0;
    pub const NOP: u8 = 1;
    pub const MSS: u8 = 2;
    pub const WINDOW_SCALE: u8 = 3;
    pub const SACK_PERMITTED: u8 = 4;
    pub const SACK: u8 = 5;
    pub const TIMESTAMPS: u8 = 8;
    pub const EXPERIMENT: u8 = 253;
}

/// Experiment identifier of the PRISM loss report ("PR"), RFC 6994 section 3.
pub const LOSS_REPORT_EXPERIMENT: u16 = 0x5052;
/// Experiment identifier of the TCP-HO handoff notice ("HO"), RFC 6994 section 3.
pub const HANDOFF_EXPERIMENT: u16 = 0x484f;
/// Experiment identifier of the explicit loss notification ("EL"), RFC 6994 section 3.
pub const LOSS_NOTIFICATION_EXPERIMENT: u16 = 0x454c;
/// Experiment identifier of TCP-DOOR's delivery order ("DO"), RFC 6994 section 3.
pub const DELIVERY_ORDER_EXPERIMENT: u16 = 0x444f;
/// Length of the PRISM loss report option.
const LOSS_REPORT_BYTES: usize = 12;
/// Length of the TCP-HO handoff notice option.
const HANDOFF_BYTES: usize = 8;
/// Length of TCP-DOOR's delivery order option.
const DELIVERY_ORDER_BYTES: usize = 8;
/// Length of the explicit loss notification, which has nothing but its identifier.
const LOSS_NOTIFICATION_BYTES: usize = 4;
/// The most option bytes a TCP header holds.
pub(crate) const MAX_OPTION_BYTES: usize = 40;

/// True for an option that [`TcpOptions`] represents; `option` is given with its kind and length bytes.
pub(crate) fn is_known(kind: u8, option: &[u8]) -> bool {
    match kind {
        kind::MSS | kind::WINDOW_SCALE | kind::SACK_PERMITTED | kind::SACK | kind::TIMESTAMPS => true,
        kind::EXPERIMENT => matches!(
            experiment(option),
            Some(
                LOSS_REPORT_EXPERIMENT
                    | HANDOFF_EXPERIMENT
                    | DELIVERY_ORDER_EXPERIMENT
                    | LOSS_NOTIFICATION_EXPERIMENT
            )
        ),
        _ => false,
    }
}

/// The experiment that an option of kind 253 belongs to.
fn experiment(option: &[u8]) -> Option<u16> {
    (option.len() >= 4).then(|| word16(option, 2))
}

/// One option: its kind and where it lies, kind and length bytes included.
pub(crate) struct RawOption {
    pub kind: u8,
    pub start: usize,
    pub end: usize,
}

impl RawOption {
    /// The option in the list that was walked over.
    #[inline]
    pub(crate) fn bytes<'a>(&self, list: &'a [u8]) -> &'a [u8] {
        list.get(self.start..self.end).unwrap_or_default()
    }
}

/// Walks over the options other than padding.
pub(crate) struct Walk<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Walk<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }
}

impl Iterator for Walk<'_> {
    type Item = Result<RawOption, WireError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let start = self.at;
            let kind = *self.bytes.get(start)?;
            match kind {
                kind::END => return None,
                kind::NOP => self.at += 1,
                _ => {
                    let length = usize::from(self.bytes.get(start + 1).copied().unwrap_or(0));
                    let end = start + length;
                    if length < 2 || end > self.bytes.len() {
                        self.at = self.bytes.len();
                        return Some(Err(WireError::MalformedOption(kind)));
                    }
                    self.at = end;
                    return Some(Ok(RawOption { kind, start, end }));
                }
            }
        }
    }
}

impl TcpOptions {
    /// Reads an option list. Unknown options are skipped; of a repeated one the last counts.
    ///
    /// # Errors
    /// When an option's length is impossible: less than 2, past the header's end, or wrong for its kind.
    #[inline]
    pub fn parse(bytes: &[u8]) -> Result<Self, WireError> {
        let mut options = Self::default();
        // Linux and others lead with NOP NOP timestamps in every segment after the handshake.
        let mut rest = bytes;
        if let [kind::NOP, kind::NOP, option @ ..] = bytes
            && let Some((option, tail)) = option.split_first_chunk::<10>()
            && let [kind::TIMESTAMPS, 10, ..] = option
        {
            options.timestamps = Some(timestamps(option));
            rest = tail;
        }
        for option in Walk::new(rest) {
            let option = option?;
            options.read(option.kind, option.bytes(rest))?;
        }
        Ok(options)
    }

    /// Takes in one option, given with its kind and length bytes.
    fn read(&mut self, kind: u8, option: &[u8]) -> Result<(), WireError> {
        let expect = |length: usize| {
            if option.len() == length { Ok(()) } else { Err(WireError::MalformedOption(kind)) }
        };
        match kind {
            kind::MSS => {
                expect(4)?;
                self.mss = Some(word16(option, 2));
            }
            kind::WINDOW_SCALE => {
                expect(3)?;
                self.window_scale = option.get(2).copied();
            }
            kind::SACK_PERMITTED => {
                expect(2)?;
                self.sack_permitted = true;
            }
            kind::TIMESTAMPS => {
                expect(10)?;
                self.timestamps = Some(timestamps(option));
            }
            kind::SACK => {
                let blocks = option.get(2..).unwrap_or_default().chunks_exact(8);
                if blocks.len() == 0 || !blocks.remainder().is_empty() {
                    return Err(WireError::MalformedOption(kind));
                }
                self.sack = SackBlocks::EMPTY;
                for block in blocks {
                    let (start, end) = (SeqNumber(word32(block, 0)), SeqNumber(word32(block, 4)));
                    // 40 bytes hold four blocks at most, so there is room.
                    self.sack.push(SackBlock { start, end });
                }
            }
            kind::EXPERIMENT => match experiment(option) {
                Some(LOSS_REPORT_EXPERIMENT) => {
                    expect(LOSS_REPORT_BYTES)?;
                    let [link, flags] = word16(option, 4).to_be_bytes();
                    self.loss_report = Some(LossReport {
                        link,
                        flags,
                        keep: KeepFactor(word16(option, 6)),
                        lost: SeqNumber(word32(option, 8)),
                    });
                }
                Some(HANDOFF_EXPERIMENT) => {
                    expect(HANDOFF_BYTES)?;
                    self.handoff = Some(HandoffNotice { bandwidth_kbps: word32(option, 4) });
                }
                Some(DELIVERY_ORDER_EXPERIMENT) => {
                    expect(DELIVERY_ORDER_BYTES)?;
                    self.delivery_order = Some(delivery_order(option));
                }
                Some(LOSS_NOTIFICATION_EXPERIMENT) => {
                    expect(LOSS_NOTIFICATION_BYTES)?;
                    self.lost_by_link = true;
                }
                _ => {}
            },
            _ => {}
        }
        Ok(())
    }

    /// Writes the options to the start of `out`, padded with NOPs to [`TcpOptions::wire_bytes`], which is returned.
    ///
    /// Order as Linux sends: MSS, SACK-permitted and timestamps, window scale, SACK, and the experiments last.
    ///
    /// # Errors
    /// When the options pass 40 bytes or `out` is too small.
    pub fn emit(&self, out: &mut [u8]) -> Result<usize, WireError> {
        let length = self.wire_bytes();
        if length > MAX_OPTION_BYTES {
            return Err(WireError::OptionsTooLong);
        }
        let mut writer = Writer { out: out.get_mut(..length).ok_or(WireError::NoRoom)?, at: 0 };
        if let Some(mss) = self.mss {
            writer.put(&[kind::MSS, 4]);
            writer.put(&mss.to_be_bytes());
        }
        match (self.sack_permitted, self.timestamps.is_some()) {
            (true, true) => writer.put(&[kind::SACK_PERMITTED, 2]),
            (false, true) => writer.put(&[kind::NOP, kind::NOP]),
            (true, false) => writer.put(&[kind::NOP, kind::NOP, kind::SACK_PERMITTED, 2]),
            (false, false) => {}
        }
        if let Some(timestamps) = self.timestamps {
            writer.put(&[kind::TIMESTAMPS, 10]);
            writer.put(&timestamps.value.to_be_bytes());
            writer.put(&timestamps.echo.to_be_bytes());
        }
        if let Some(shift) = self.window_scale {
            writer.put(&[kind::NOP, kind::WINDOW_SCALE, 3, shift]);
        }
        let blocks = self.sack.as_slice();
        if !blocks.is_empty() {
            writer.put(&[kind::NOP, kind::NOP, kind::SACK, (2 + 8 * blocks.len()) as u8]);
            for block in blocks {
                writer.put(&block.start.0.to_be_bytes());
                writer.put(&block.end.0.to_be_bytes());
            }
        }
        if let Some(report) = self.loss_report {
            writer.put(&[kind::EXPERIMENT, LOSS_REPORT_BYTES as u8]);
            writer.put(&LOSS_REPORT_EXPERIMENT.to_be_bytes());
            writer.put(&[report.link, report.flags]);
            writer.put(&report.keep.0.to_be_bytes());
            writer.put(&report.lost.0.to_be_bytes());
        }
        if let Some(notice) = self.handoff {
            writer.put(&[kind::EXPERIMENT, HANDOFF_BYTES as u8]);
            writer.put(&HANDOFF_EXPERIMENT.to_be_bytes());
            writer.put(&notice.bandwidth_kbps.to_be_bytes());
        }
        if let Some(order) = self.delivery_order {
            writer.put(&[kind::EXPERIMENT, DELIVERY_ORDER_BYTES as u8]);
            writer.put(&DELIVERY_ORDER_EXPERIMENT.to_be_bytes());
            writer.put(&[order_flags(&order), order.adsn.unwrap_or(0)]);
            writer.put(&order.tpsn.unwrap_or(0).to_be_bytes());
        }
        if self.lost_by_link {
            writer.put(&[kind::EXPERIMENT, LOSS_NOTIFICATION_BYTES as u8]);
            writer.put(&LOSS_NOTIFICATION_EXPERIMENT.to_be_bytes());
        }
        debug_assert_eq!(writer.at, length, "emission and wire_bytes agree");
        Ok(length)
    }

    /// Adds a loss report; older SACK blocks make room for it, the first one stays as long as it can.
    ///
    /// `reserved_bytes` are taken by options unknown to this type. Says whether the report found room.
    pub fn insert_loss_report(&mut self, report: LossReport, reserved_bytes: usize) -> bool {
        self.make_room(Self { loss_report: Some(report), ..*self }, reserved_bytes)
    }

    /// Adds a handoff notice; SACK blocks make room for it, the oldest first. Says whether it found room.
    pub fn insert_handoff(&mut self, notice: HandoffNotice) -> bool {
        self.make_room(Self { handoff: Some(notice), ..*self }, 0)
    }

    /// Adds a delivery order; SACK blocks make room for it, the oldest first. Says whether it found room.
    pub fn insert_delivery_order(&mut self, order: DeliveryOrder) -> bool {
        self.make_room(Self { delivery_order: Some(order), ..*self }, 0)
    }

    /// Adds the explicit loss notification; SACK blocks make room for it, the oldest first. Says whether it found room.
    pub fn insert_loss_notification(&mut self) -> bool {
        self.make_room(Self { lost_by_link: true, ..*self }, 0)
    }

    /// Becomes `wanted` with as many of its SACK blocks as fit beside `reserved_bytes`; unchanged if none does.
    fn make_room(&mut self, mut wanted: Self, reserved_bytes: usize) -> bool {
        for blocks in (0..=self.sack.as_slice().len()).rev() {
            wanted.sack.truncate(blocks);
            if wanted.wire_bytes() + reserved_bytes <= MAX_OPTION_BYTES {
                *self = wanted;
                return true;
            }
        }
        false
    }
}

/// The timestamps of a ten-byte option.
#[inline]
fn timestamps(option: &[u8]) -> Timestamps {
    Timestamps { value: word32(option, 2), echo: word32(option, 6) }
}

/// Flag bits of a delivery order: which of its numbers count, and whether a data packet arrived out of order.
const ADSN_VALID: u8 = 1 << 0;
const TPSN_VALID: u8 = 1 << 1;
const OUT_OF_ORDER: u8 = 1 << 2;

fn order_flags(order: &DeliveryOrder) -> u8 {
    let flag = |set: bool, bit: u8| if set { bit } else { 0 };
    flag(order.adsn.is_some(), ADSN_VALID)
        | flag(order.tpsn.is_some(), TPSN_VALID)
        | flag(order.out_of_order, OUT_OF_ORDER)
}

/// The delivery order of an eight-byte option. Flags that nobody has defined are ignored.
fn delivery_order(option: &[u8]) -> DeliveryOrder {
    let [flags, adsn] = word16(option, 4).to_be_bytes();
    DeliveryOrder {
        adsn: (flags & ADSN_VALID != 0).then_some(adsn),
        tpsn: (flags & TPSN_VALID != 0).then(|| word16(option, 6)),
        out_of_order: flags & OUT_OF_ORDER != 0,
    }
}

/// Appends to a slice whose length was computed before.
struct Writer<'a> {
    out: &'a mut [u8],
    at: usize,
}

impl Writer<'_> {
    fn put(&mut self, bytes: &[u8]) {
        put(self.out, self.at, bytes);
        self.at += bytes.len();
    }
}
