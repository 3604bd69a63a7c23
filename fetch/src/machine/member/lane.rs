//! Pieces on their way from the origin: a download of the file that goes from piece to piece, so that what it has
//! learned of the way is kept. What lies between two pieces counts as here.
use super::transfer::begin;
use crate::SEGMENT_BYTES;
use crate::client::{Download, DownloadConfig, DownloadError, DownloadEvent, PathSpec};
use crate::handshake::Identity;
use prismux_endpoint::Endpoint as _;
use prismux_sealed::Entropy;
use prismux_units::{ByteCount, Duration, Instant};
use std::collections::VecDeque;
use std::ops::Range;

/// A piece further on than this is not worth waiting for what is before it.
const MAX_GAP_BYTES: u64 = 32 << 20;
/// Of several of the longest pieces, and a gap.
const WINDOW: ByteCount = ByteCount::new(256 << 20);

/// A piece that is wanted.
struct Wanted {
    piece: u32,
    range: Range<u64>,
    bytes: Vec<u8>,
    received: u64,
}

pub(super) struct Lane {
    pub(super) download: Download,
    /// In the order of the file.
    wanted: VecDeque<Wanted>,
    /// Just after the last piece that ever was.
    end: u64,
    /// What has come from there on: requests are for whole segments, and the last may reach beyond a piece.
    spill: Vec<u8>,
    is_over: bool,
}

/// What has come of a lane.
#[derive(Default)]
pub(super) struct Brought {
    pub(super) is_new: bool,
    pub(super) pieces: Vec<(u32, Vec<u8>)>,
    /// Nothing more will, and what does not for what reason.
    pub(super) failed: Option<(DownloadError, Vec<u32>)>,
}

impl Lane {
    /// A lane that begins with `piece`, which lies at `range`.
    pub(super) fn new(
        identity: Identity,
        (piece, range): (u32, Range<u64>),
        give_up_after: Duration,
        paths: &[PathSpec],
        entropy: &mut Entropy,
        now: Instant,
    ) -> Self {
        let before = Some(0..range.start).filter(|before| !before.is_empty());
        let config = DownloadConfig {
            resume: Some((identity, before.into_iter().collect())),
            give_up_after,
            window: WINDOW,
            ask_up_to: Some(range.start),
            ..DownloadConfig::default()
        };
        let download = begin(config, paths, entropy, now);
        let (end, spill) = (range.start, Vec::new());
        let mut lane = Self { download, wanted: VecDeque::new(), end, spill, is_over: false };
        lane.want(now, piece, range);
        lane
    }

    /// Takes on `piece` too, which lies at `range`; false if it lies behind, or too far ahead.
    pub(super) fn extend(&mut self, now: Instant, piece: u32, range: Range<u64>) -> bool {
        let fits = !self.is_over && range.start >= self.end && range.start - self.end <= MAX_GAP_BYTES;
        if fits {
            if range.start > self.end {
                self.download.already_here(now, self.end..range.start);
                self.spill.clear();
            }
            self.want(now, piece, range);
        }
        fits
    }

    fn want(&mut self, now: Instant, piece: u32, range: Range<u64>) {
        let mut bytes = vec![0; (range.end - range.start) as usize];
        let spilt = self.spill.len().min(bytes.len());
        if let (Some(place), Some(spill)) = (bytes.get_mut(..spilt), self.spill.get(..spilt)) {
            place.copy_from_slice(spill);
        }
        self.spill.drain(..spilt);
        self.end = range.end;
        self.wanted.push_back(Wanted { piece, range, bytes, received: spilt as u64 });
        self.download.ask_up_to(now, self.end + u64::from(SEGMENT_BYTES));
    }

    /// `piece` is not wanted any more: how many of its bytes have come, if it was.
    pub(super) fn withdraw(&mut self, now: Instant, piece: u32) -> Option<u64> {
        let index = self.wanted.iter().position(|wanted| wanted.piece == piece)?;
        let wanted = self.wanted.remove(index)?;
        self.download.already_here(now, wanted.range);
        Some(wanted.received)
    }

    /// Whether it will bring nothing more, and nothing is wanted of it.
    pub(super) const fn is_over(&self) -> bool {
        self.is_over
    }

    /// Takes what has come.
    pub(super) fn take(&mut self) -> Brought {
        let mut brought = Brought::default();
        while let Some(event) = self.download.poll_event() {
            match event {
                DownloadEvent::Received { offset, part } => {
                    brought.is_new = true;
                    keep(&mut self.wanted, self.end, &mut self.spill, offset, self.download.part(part));
                }
                DownloadEvent::Complete => self.is_over = true,
                DownloadEvent::Failed(why) => {
                    self.is_over = true;
                    let owed = self.wanted.drain(..).map(|wanted| wanted.piece).collect();
                    brought.failed = Some((why, owed));
                }
                _ => {}
            }
        }
        while let Some(index) =
            self.wanted.iter().position(|wanted| wanted.received == wanted.bytes.len() as u64)
            && let Some(whole) = self.wanted.remove(index)
        {
            brought.pieces.push((whole.piece, whole.bytes));
        }
        brought
    }
}

/// Keeps bytes that have come where they are wanted, and what lies from `end` on for the piece that may follow.
fn keep(wanted: &mut VecDeque<Wanted>, end: u64, spill: &mut Vec<u8>, offset: u64, bytes: &[u8]) {
    let until = offset + bytes.len() as u64;
    for piece in wanted {
        let (from, to) = (offset.max(piece.range.start), until.min(piece.range.end));
        if from < to {
            let (here, there) = ((from - offset) as usize, (from - piece.range.start) as usize);
            let length = (to - from) as usize;
            if let (Some(part), Some(room)) =
                (bytes.get(here..here + length), piece.bytes.get_mut(there..there + length))
            {
                room.copy_from_slice(part);
                piece.received += length as u64;
            }
        }
    }
    let from = offset.max(end);
    if until > from && from - end == spill.len() as u64 {
        spill.extend_from_slice(bytes.get((from - offset) as usize..).unwrap_or_default());
    }
}
