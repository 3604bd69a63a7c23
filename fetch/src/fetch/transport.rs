//! What only the transport that asks can do is not promised of the other.
use super::{FetchError, FetchRequest, Transport};
use crate::url::Url;
use prismux_ptcp::MAX_PIPES;
use prismux_r2cp::policy::Cost;

/// Whether the request's transport can do what is wanted.
pub(super) fn check(request: &FetchRequest) -> Result<(), FetchError> {
    if request.transport == Transport::R2cp {
        return Ok(());
    }
    if request.rate.is_some() {
        return Err(refused("with pTCP the server decides how fast it sends"));
    }
    if !request.costs.is_empty() {
        return Err(refused("with pTCP the server decides which interface carries what"));
    }
    if request.via.len() > usize::from(MAX_PIPES) {
        let interfaces = request.via.len();
        return Err(refused(&format!(
            "pTCP has at most {MAX_PIPES} pipes, {interfaces} interfaces were given"
        )));
    }
    request.urls.iter().try_for_each(|url| check_server(request, url))
}

/// Whether the request's transport can use the server of `url` too.
pub(super) fn check_server(request: &FetchRequest, url: &Url) -> Result<(), FetchError> {
    if request.transport == Transport::R2cp {
        return Ok(());
    }
    let is_same = |other: &Url| (other.key, &other.host, other.port) == (url.key, &url.host, url.port);
    if request.urls.first().is_some_and(|first| !is_same(first)) {
        return Err(refused("pTCP joins one server, and URLs of several were given"));
    }
    if url.cost != Cost(0) {
        return Err(refused("with pTCP the server decides which interface carries what"));
    }
    Ok(())
}

fn refused(problem: &str) -> FetchError {
    FetchError::Usage(format!(
        "{problem}\n  remedy: --transport r2cp takes several servers, any number of interfaces, --rate and costs"
    ))
}
