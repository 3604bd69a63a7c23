use super::{Body, MAX_BYTES, Malformed, Message, ServiceRequest, UrlEntry};
use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;

fn request() -> Message {
    let request = ServiceRequest {
        previous_responders: "192.0.2.1,192.0.2.2".to_string(),
        service_type: "service:member.prismux".to_string(),
        scopes: "DEFAULT".to_string(),
        ..ServiceRequest::default()
    };
    let body = Body::ServiceRequest(request);
    Message { number: 0x1234, is_multicast: true, has_overflowed: false, body }
}

fn reply(count: usize) -> Message {
    let entry =
        |k: usize| UrlEntry { lifetime_s: 300, url: format!("service:member.prismux://192.0.2.7/{k:04}") };
    let body = Body::ServiceReply { error: 0, entries: (0..count).map(entry).collect() };
    Message { number: 7, is_multicast: false, has_overflowed: false, body }
}

/// By hand, from the pictures of sections 8 and 8.1.
#[test]
fn a_request_is_the_bytes_of_the_standard() {
    let text = |text: &str| [&(text.len() as u16).to_be_bytes()[..], text.as_bytes()].concat();
    let body =
        [text("192.0.2.1,192.0.2.2"), text("service:member.prismux"), text("DEFAULT"), text(""), text("")]
            .concat();
    let length = 16 + body.len() as u8;
    let header = [2, 1, 0, 0, length, 0x20, 0, 0, 0, 0, 0x12, 0x34, 0, 2, b'e', b'n'];
    assert_eq!(request().emit(), [&header[..], &body].concat());
}

#[test]
fn messages_read_back() {
    let advert =
        Body::AgentAdvert { url: "service:service-agent://192.0.2.7".to_string(), scopes: "A,b".to_string() };
    let error = Body::ServiceReply { error: 4, entries: Vec::new() };
    for body in [request().body, reply(0).body, reply(3).body, advert, error] {
        let message = Message { number: 9, is_multicast: false, has_overflowed: false, body };
        assert_eq!(Message::parse(&message.emit()), Ok(message));
    }
}

#[test]
fn signatures_and_extensions_that_may_be_ignored_are() {
    let mut bytes = reply(1).emit();
    let signature = [0, 2, 0, 6, 1, 2];
    *bytes.last_mut().unwrap() = 2;
    bytes.extend_from_slice(&signature);
    bytes.extend_from_slice(&signature);
    let extension_at = bytes.len() as u8;
    bytes.extend_from_slice(&[0x00, 0x02, 0, 0, 0, 9]);
    bytes[4] = bytes.len() as u8;
    bytes[9] = extension_at;
    assert_eq!(Message::parse(&bytes).unwrap().body, reply(1).body);
    bytes[usize::from(extension_at)] = 0x40;
    assert_eq!(Message::parse(&bytes), Err(Malformed::Extension));
    bytes[usize::from(extension_at)] = 0;
    bytes[9] = 250;
    assert_eq!(Message::parse(&bytes), Err(Malformed::Truncated));
}

#[test]
fn what_does_not_fit_is_left_out_and_told_of() {
    let bytes = reply(100).emit();
    assert!(bytes.len() <= MAX_BYTES && bytes.len() > MAX_BYTES - 60, "{}", bytes.len());
    let read = Message::parse(&bytes).unwrap();
    let Body::ServiceReply { entries, .. } = read.body else { panic!("a reply") };
    assert!(read.has_overflowed && entries.len() > 20 && entries.len() < 100, "{}", entries.len());
}

#[test]
fn every_cut_and_every_changed_byte_is_refused_or_read() {
    for whole in [request().emit(), reply(2).emit()] {
        for length in 0..whole.len() {
            assert!(Message::parse(&whole[..length]).is_err(), "{length}");
        }
        for place in 0..whole.len() {
            for value in [0, 1, 0x7f, 0x80, 0xff] {
                let mut bytes = whole.clone();
                bytes[place] = value;
                if let Ok(message) = Message::parse(&bytes) {
                    assert_eq!(Message::parse(&message.emit()), Ok(message), "byte {place} = {value}");
                }
            }
        }
    }
    assert_eq!(Message::parse(&[1; 40]), Err(Malformed::Version(1)));
    assert_eq!(
        Message::parse(&[2, 9, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0, 0, 2, b'e', b'n']),
        Err(Malformed::Function(9))
    );
}
