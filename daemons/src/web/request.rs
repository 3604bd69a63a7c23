//! What is asked: the head of a request of HTTP/1.1 (RFC 9112), as far as it matters here. Pure.
use std::io;

/// No request of a browser, nor of Prometheus, comes near.
const MAX_REQUEST_BYTES: usize = 8192;

/// What matters of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Request {
    pub method: String,
    /// What stands before a question mark.
    pub path: String,
    /// What stands behind it.
    pub query: String,
    pub host: String,
    pub authorization: String,
}

impl Request {
    /// The whole number that the query names `key`.
    pub fn number(&self, key: &str) -> Option<u64> {
        let pairs = self.query.split('&').filter_map(|pair| pair.split_once('='));
        pairs.filter(|(name, _)| *name == key).find_map(|(_, value)| value.parse().ok())
    }
}

/// Why a request is not even looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    Malformed,
    TooLong,
}

impl Refusal {
    pub const fn status(self) -> &'static str {
        match self {
            Self::Malformed => "400 Bad Request",
            Self::TooLong => "431 Request Header Fields Too Large",
        }
    }

    pub const fn sentence(self) -> &'static str {
        match self {
            Self::Malformed => "This is no request.\n",
            Self::TooLong => "This request is too long.\n",
        }
    }
}

/// The next request; `read` fills a block as [`io::Read::read`] does.
///
/// # Errors
/// Those of `read`; and when the other end goes away in the middle of a request.
pub(super) fn read(
    mut read: impl FnMut(&mut [u8]) -> io::Result<usize>,
) -> io::Result<Result<Request, Refusal>> {
    let (mut text, mut block) = (Vec::new(), [0; 1024]);
    loop {
        // Four bytes may lie across two blocks.
        let known = text.len().saturating_sub(3);
        let length = read(&mut block)?;
        if length == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        text.extend_from_slice(block.get(..length).unwrap_or_default());
        let news = text.get(known..).unwrap_or_default();
        if let Some(end) = news.windows(4).position(|end| end == b"\r\n\r\n") {
            return Ok(parse(text.get(..known + end).unwrap_or_default()).ok_or(Refusal::Malformed));
        }
        if text.len() > MAX_REQUEST_BYTES {
            return Ok(Err(Refusal::TooLong));
        }
    }
}

/// The head of a request, without the empty line at its end.
fn parse(head: &[u8]) -> Option<Request> {
    let mut lines = std::str::from_utf8(head).ok()?.split("\r\n");
    let mut words = lines.next()?.split(' ');
    let (method, target, version) = (words.next()?, words.next()?, words.next()?);
    if words.next().is_some() || !version.starts_with("HTTP/1.") || !target.starts_with('/') {
        return None;
    }
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let (mut host, mut authorization) = (None, None);
    for line in lines {
        let (name, value) = line.split_once(':')?;
        let field = match name {
            name if name.eq_ignore_ascii_case("host") => &mut host,
            name if name.eq_ignore_ascii_case("authorization") => &mut authorization,
            _ => continue,
        };
        // Two hosts (RFC 9112 section 3.2), or two passwords, are one too many.
        if field.replace(value.trim().to_owned()).is_some() {
            return None;
        }
    }
    Some(Request {
        method: method.to_owned(),
        path: path.to_owned(),
        query: query.to_owned(),
        host: host.unwrap_or_default(),
        authorization: authorization.unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads `text` in pieces of so many bytes.
    fn read_in(text: &[u8], piece: usize) -> io::Result<Result<Request, Refusal>> {
        let mut pieces = text.chunks(piece);
        read(|block| {
            let piece = pieces.next().unwrap_or_default();
            block[..piece.len()].copy_from_slice(piece);
            Ok(piece.len())
        })
    }

    #[test]
    fn a_request_is_read_in_whatever_pieces_it_comes() {
        let text =
            b"GET /live.json?after=12&x=1 HTTP/1.1\r\nhost: localhost\r\nAuthorization: Basic a\r\n\r\n..";
        for piece in 1..text.len() {
            let request = read_in(text, piece).unwrap().unwrap();
            assert_eq!((request.method.as_str(), request.path.as_str()), ("GET", "/live.json"));
            assert_eq!((request.host.as_str(), request.authorization.as_str()), ("localhost", "Basic a"));
            assert_eq!((request.number("after"), request.number("before")), (Some(12), None));
        }
    }

    #[test]
    fn what_is_no_request_is_refused() {
        for text in [
            "\r\n\r\n",
            "GET\r\n\r\n",
            "GET / HTTP/2\r\n\r\n",
            "GET http://evil.example/ HTTP/1.1\r\n\r\n",
            "GET / HTTP/1.1 more\r\n\r\n",
            "GET / HTTP/1.1\r\nno colon\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
            "GET / HTTP/1.1\r\nAuthorization: a\r\nAuthorization: b\r\n\r\n",
        ] {
            assert_eq!(read_in(text.as_bytes(), 7).unwrap(), Err(Refusal::Malformed), "{text:?}");
        }
        assert_eq!(read_in(b"GET /\xff HTTP/1.1\r\n\r\n", 64).unwrap(), Err(Refusal::Malformed));
        assert!(read_in(b"GET / HTTP/1.1\r\n", 64).is_err(), "it ends in the middle");
    }

    #[test]
    fn a_request_without_end_is_given_up() {
        let endless = format!("GET / HTTP/1.1\r\nX: {}", "y".repeat(100_000));
        assert_eq!(read_in(endless.as_bytes(), 1000).unwrap(), Err(Refusal::TooLong));
    }
}
