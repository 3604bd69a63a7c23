//! Who is answered what at an address.
//!
//! An address of this host alone needs no password, but a name of this host in the request: otherwise any page in the
//! reader's browser could ask, under a name that it has led here (DNS rebinding). With a password there is no need for
//! names: a browser gives a password only to the name that it was typed for.
use super::assets::ASSETS;
use super::password::{Guard, Verdict};
use super::request::Request;
use super::{Board, live};
use crate::metrics;
use std::net::{IpAddr, SocketAddr};
use std::time::Instant;

const TEXT: &str = "text/plain; charset=utf-8";
const METRICS: &str = "text/plain; version=0.0.4; charset=utf-8";
const JSON: &str = "application/json";

/// What every answer says: keep nothing, guess nothing, load nothing from elsewhere, show nothing inside other pages.
const HEADERS: &str = "Connection: close\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n\
    Referrer-Policy: no-referrer\r\nCross-Origin-Resource-Policy: same-origin\r\n\
    Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
    img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'\r\n";

/// What is at an address.
#[derive(Debug)]
pub(super) struct Site {
    pub address: SocketAddr,
    pub has_page: bool,
    pub has_metrics: bool,
    /// Who may ask; `None` for everybody on this host.
    pub guard: Option<Guard>,
    pub board: Board,
}

/// An answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Response {
    status: &'static str,
    kind: &'static str,
    /// A header that only some answers have, with its line end.
    more: &'static str,
    pub body: Vec<u8>,
}

impl Response {
    fn found(kind: &'static str, body: impl Into<Vec<u8>>) -> Self {
        Self { status: "200 OK", kind, more: "", body: body.into() }
    }

    /// A status other than success, and a sentence.
    pub fn refusal(status: &'static str, sentence: &'static str) -> Self {
        Self { status, kind: TEXT, more: "", body: sentence.into() }
    }

    /// Status line and headers, with the empty line.
    pub fn head(&self) -> String {
        let Self { status, kind, more, body } = self;
        let length = body.len();
        format!(
            "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n{more}{HEADERS}\r\n"
        )
    }
}

impl Site {
    /// The answer to a request from an address.
    pub fn respond(&self, request: &Request, from: IpAddr) -> Response {
        if let Some(refusal) = self.refusal(request, from) {
            return refusal;
        }
        if request.method != "GET" {
            let only = Response::refusal("405 Method Not Allowed", "Only GET.\n");
            return Response { more: "Allow: GET\r\n", ..only };
        }
        let path = request.path.as_str();
        if self.has_metrics && (path == "/metrics" || (path == "/" && !self.has_page)) {
            return Response::found(
                METRICS,
                metrics::text(&self.board.with(|published| published.status.clone())),
            );
        }
        if self.has_page {
            match path {
                "/status.json" => {
                    let status = self.board.with(|published| published.status.clone());
                    return Response::found(JSON, status.to_string());
                }
                "/live.json" => {
                    let published = self.board.with(|published| published.clone());
                    return Response::found(JSON, live::answer(&published, request).to_string());
                }
                _ => {}
            }
            if let Some(asset) = ASSETS.iter().find(|asset| asset.path == path) {
                return Response::found(asset.kind, asset.text);
            }
        }
        let sentence = if self.has_metrics && !self.has_page {
            "Metrics are at /metrics.\n"
        } else {
            "Nothing is here.\n"
        };
        Response::refusal("404 Not Found", sentence)
    }

    /// Why somebody is answered nothing else, if so.
    fn refusal(&self, request: &Request, from: IpAddr) -> Option<Response> {
        let Some(guard) = &self.guard else {
            let sentence =
                "This page is for the host it is on: ask for 127.0.0.1 or localhost, or set a password.\n";
            return (!self.is_named_by(&request.host)).then(|| Response::refusal("403 Forbidden", sentence));
        };
        match guard.judge(&request.authorization, from, Instant::now()) {
            Verdict::LetIn => None,
            Verdict::Refused => Some(Response {
                more: "WWW-Authenticate: Basic realm=\"prismux\", charset=\"UTF-8\"\r\n",
                ..Response::refusal(
                    "401 Unauthorized",
                    "The name is prismux, and the password that of the file.\n",
                )
            }),
            Verdict::Later => {
                Some(Response::refusal("429 Too Many Requests", "Too many wrong passwords: wait a minute.\n"))
            }
        }
    }

    /// Whether a request's host is a name of this one: this very address, or `localhost`; the port may be missing, or
    /// another, where it was forwarded.
    fn is_named_by(&self, host: &str) -> bool {
        let name = match host.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
            _ => host,
        };
        let address = match self.address.ip() {
            IpAddr::V4(address) => address.to_string(),
            IpAddr::V6(address) => format!("[{address}]"),
        };
        name.eq_ignore_ascii_case("localhost") || name == address
    }
}
