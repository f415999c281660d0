//! The emulator on a port, spoken to as the AWS tools speak (CC-60).

#![allow(clippy::unwrap_used)] // the helpers of a test may fail as the test itself may

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;

use groma_cloudcontrol::emulator::{Faults, Server, Settings, Store};
use groma_cloudcontrol::schema::Catalogue;
use serde_json::{Value as Json, json};

fn serve(settings: Settings) -> SocketAddr {
    let store = Arc::new(Store::in_memory(Catalogue::shipped().clone(), settings).unwrap());
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let server = Server::bind("127.0.0.1:0".parse().unwrap(), store).await.unwrap();
            sender.send(server.address().unwrap()).unwrap();
            server.run().await.unwrap();
        });
    });
    receiver.recv().unwrap()
}

/// Status and body of the answer; none if the connection ends without one.
fn post(address: SocketAddr, headers: &str, body: &str) -> Option<(u16, String)> {
    let mut stream = TcpStream::connect(address).unwrap();
    let scope = "AWS4-HMAC-SHA256 Credential=AKID/20260101/eu-west-1/cloudcontrolapi/aws4_request, SignedHeaders=host, Signature=0";
    write!(
        stream,
        "POST / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAuthorization: {scope}\r\n{headers}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    Some((status, body.to_owned()))
}

fn call(address: SocketAddr, operation: &str, body: &Json) -> (u16, Json) {
    let headers = format!("X-Amz-Target: CloudApiService.{operation}\r\nContent-Type: application/x-amz-json-1.0\r\n");
    let (status, body) = post(address, &headers, &body.to_string()).unwrap();
    (status, serde_json::from_str(&body).unwrap())
}

#[test]
fn cc_60_all_eight_operations_on_the_wire() {
    let address = serve(Settings::default());
    let create = json!({"TypeName": "AWS::SQS::Queue", "DesiredState": "{\"QueueName\":\"jobs\"}", "ClientToken": "t"});
    let (status, started) = call(address, "CreateResource", &create);
    assert_eq!(status, 200);
    let event = &started["ProgressEvent"];
    assert_eq!((&event["Operation"], &event["OperationStatus"]), (&json!("CREATE"), &json!("IN_PROGRESS")));
    assert!(event["EventTime"].is_number());
    let (_, ended) = call(address, "GetResourceRequestStatus", &json!({"RequestToken": event["RequestToken"]}));
    assert_eq!(ended["ProgressEvent"]["OperationStatus"], "SUCCESS");
    let identifier = ended["ProgressEvent"]["Identifier"].as_str().unwrap();
    assert_eq!(
        identifier, "https://sqs.eu-west-1.amazonaws.com/123456789012/jobs",
        "the region of the signature counts"
    );

    let (_, got) = call(address, "GetResource", &json!({"TypeName": "AWS::SQS::Queue", "Identifier": identifier}));
    let properties: Json = serde_json::from_str(got["ResourceDescription"]["Properties"].as_str().unwrap()).unwrap();
    assert_eq!(properties["Arn"], "arn:aws:sqs:eu-west-1:123456789012:jobs");
    let patch = "[{\"op\":\"replace\",\"path\":\"/DelaySeconds\",\"value\":9}]";
    let update = json!({"TypeName": "AWS::SQS::Queue", "Identifier": identifier, "PatchDocument": patch});
    assert_eq!(call(address, "UpdateResource", &update).0, 200);
    let (_, list) = call(address, "ListResources", &json!({"TypeName": "AWS::SQS::Queue"}));
    assert_eq!(list["ResourceDescriptions"].as_array().unwrap().len(), 1);
    let (_, requests) = call(address, "ListResourceRequests", &json!({}));
    assert_eq!(requests["ResourceRequestStatusSummaries"].as_array().unwrap().len(), 2);
    let (status, refused) = call(address, "CancelResourceRequest", &json!({"RequestToken": event["RequestToken"]}));
    assert_eq!(status, 500);
    assert!(refused["__type"].as_str().unwrap().ends_with("#ConcurrentModificationException"));
    let delete = json!({"TypeName": "AWS::SQS::Queue", "Identifier": identifier});
    assert_eq!(call(address, "DeleteResource", &delete).0, 200);
    let (status, gone) = call(address, "GetResource", &delete);
    assert_eq!(status, 400);
    assert!(gone["__type"].as_str().unwrap().ends_with("#ResourceNotFoundException"));
    assert!(gone["Message"].as_str().unwrap().contains("was not found"));
}

#[test]
fn cc_60_the_caller_and_wrong_requests() {
    let address = serve(Settings::default());
    let form = "Content-Type: application/x-www-form-urlencoded\r\n";
    let (status, body) = post(address, form, "Action=GetCallerIdentity&Version=2011-06-15").unwrap();
    assert_eq!(status, 200);
    assert!(body.contains("<Account>123456789012</Account>"), "{body}");
    assert_eq!(post(address, form, "Action=Other").unwrap().0, 400);
    assert_eq!(call(address, "NoSuch", &json!({})).0, 400);
    assert_eq!(call(address, "CreateResource", &json!({"TypeName": 5})).0, 400);
    assert_eq!(post(address, "X-Amz-Target: CloudApiService.GetResource\r\n", "{").unwrap().0, 400);
}

#[test]
fn cc_62_connections_drop_on_demand() {
    let address = serve(Settings { faults: Faults { drops: 1.0, ..Faults::default() }, ..Settings::default() });
    assert_eq!(post(address, "X-Amz-Target: CloudApiService.ListResourceRequests\r\n", "{}"), None);
}
