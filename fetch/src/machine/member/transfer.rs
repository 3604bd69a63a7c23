//! One object or piece that is under way.
use crate::client::{Download, DownloadConfig, DownloadError, DownloadEvent, PathSpec};
use crate::handshake::Identity;
use prismux_community::contents::Source;
use prismux_endpoint::Endpoint as _;
use prismux_sealed::Entropy;
use prismux_units::{ByteCount, Duration, Instant};
use std::ops::Range;

/// A download of bytes that are kept here until all of them have come.
pub(super) struct Transfer {
    pub(super) from: Source,
    pub(super) download: Download,
    /// Where in the object the bytes lie that are wanted; none before that is known.
    range: Option<Range<u64>>,
    bytes: Vec<u8>,
    received_bytes: u64,
}

impl Transfer {
    /// A whole object of whatever size, up to a limit that `config` has.
    pub(super) fn of_object(
        config: DownloadConfig,
        paths: &[PathSpec],
        entropy: &mut Entropy,
        now: Instant,
    ) -> Self {
        let download = begin(config, paths, entropy, now);
        Self { from: Source::Origin, download, range: None, bytes: Vec::new(), received_bytes: 0 }
    }

    /// The bytes `range` of the file, out of the whole file at its origin.
    pub(super) fn from_origin(
        identity: Identity,
        range: Range<u64>,
        give_up_after: Duration,
        paths: &[PathSpec],
        entropy: &mut Entropy,
        now: Instant,
    ) -> Self {
        let others = [0..range.start, range.end..identity.size];
        let others = others.into_iter().filter(|other| !other.is_empty()).collect();
        let length = range.end - range.start;
        let config = DownloadConfig {
            resume: Some((identity, others)),
            give_up_after,
            window: ByteCount::new(4 * length).max(DownloadConfig::default().window),
            ..DownloadConfig::default()
        };
        let download = begin(config, paths, entropy, now);
        Self::of_range(Source::Origin, download, range)
    }

    /// A piece that a neighbour gives as an object of its own.
    pub(super) fn from_neighbour(
        from: Source,
        identity: Identity,
        give_up_after: Duration,
        path: PathSpec,
        entropy: &mut Entropy,
        now: Instant,
    ) -> Self {
        let config = DownloadConfig {
            digest: Some(identity.digest),
            max_size: Some(ByteCount::new(identity.size)),
            give_up_after,
            ..DownloadConfig::default()
        };
        let download = begin(config, &[path], entropy, now);
        Self::of_range(from, download, 0..identity.size)
    }

    fn of_range(from: Source, download: Download, range: Range<u64>) -> Self {
        let bytes = vec![0; (range.end - range.start) as usize];
        Self { from, download, range: Some(range), bytes, received_bytes: 0 }
    }

    /// Bytes that have come so far.
    pub(super) const fn received_bytes(&self) -> u64 {
        self.received_bytes
    }

    /// Takes what has come: all bytes, once all are here, or why they will not be.
    pub(super) fn take(&mut self) -> Option<Result<Vec<u8>, DownloadError>> {
        while let Some(event) = self.download.poll_event() {
            match event {
                DownloadEvent::Identified(identity) => {
                    if self.range.is_none() {
                        self.bytes = vec![0; identity.size as usize];
                        self.range = Some(0..identity.size);
                    }
                }
                DownloadEvent::Received { offset, part } => {
                    let start = self.range.as_ref().map_or(0, |range| range.start);
                    let part = self.download.part(part);
                    let place = offset.checked_sub(start).and_then(|place| usize::try_from(place).ok());
                    let room = place.and_then(|place| self.bytes.get_mut(place..place + part.len()));
                    if let Some(room) = room {
                        room.copy_from_slice(part);
                        self.received_bytes += part.len() as u64;
                    }
                }
                DownloadEvent::Complete => return Some(Ok(std::mem::take(&mut self.bytes))),
                DownloadEvent::Failed(why) => return Some(Err(why)),
                _ => {}
            }
        }
        None
    }
}

fn begin(config: DownloadConfig, paths: &[PathSpec], entropy: &mut Entropy, now: Instant) -> Download {
    let own = Entropy::from_seed(entropy.bytes());
    let mut download = Download::new(config, paths.iter().cloned(), own, now);
    prismux_endpoint::expire(&mut download, now);
    download
}
