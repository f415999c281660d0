//! Measures what the engine does most with values: `cargo run --release -p groma-value --example measure_values`.

use groma_value::convert::convert;
use groma_value::operations::TemplateBuilder;
use groma_value::{Name, Number, ObjectType, Type, Value, json, msgpack};
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

fn main() {
    let ty = schema();
    let names: Vec<Name> = ty.iter().map(|(name, _)| name.clone()).collect();
    each("build an object of 30 attributes", 300_000, || black_box(resource(&ty, 7)));
    let object = resource(&ty, 7);
    each("get one of 30 attributes", 5_000_000, || black_box(object.attribute(black_box(&names[17]))));
    each("ask for the type", 5_000_000, || black_box(object.ty()));
    each("compare two equal objects", 500_000, || black_box(object == resource_with(&object)));
    each("template of two parts", 2_000_000, || {
        let mut template = TemplateBuilder::with_capacity(32);
        template.push_str("instance-");
        template.push(black_box(&object).as_object().and_then(|object| object.get("a05")).unwrap_or(&Value::NULL)).ok();
        black_box(template.finish())
    });
    codecs(&ty);
    sets();
    numbers();
}

fn schema() -> Arc<ObjectType> {
    let mut attributes: Vec<(String, Type)> = (0..26)
        .map(|at| {
            let ty = match at % 4 {
                0 => Type::Number,
                1 => Type::Bool,
                _ => Type::String,
            };
            (format!("a{at:02}"), ty)
        })
        .collect();
    attributes.push(("list".into(), Type::list(Type::String)));
    attributes.push(("tags".into(), Type::map(Type::String)));
    attributes.push(("rule".into(), Type::set(Type::object([("from", Type::Number), ("to", Type::Number)]))));
    attributes.push(("none".into(), Type::String));
    Arc::new(ObjectType::new(attributes.into_iter().map(|(name, ty)| (Name::from(name), ty))))
}

fn resource(ty: &Arc<ObjectType>, at: usize) -> Value {
    let values = ty
        .iter()
        .map(|(name, ty)| match ty {
            Type::Number => Value::number(at),
            Type::Bool => Value::TRUE,
            Type::String if &**name == "none" => Value::null(Type::String),
            Type::String => Value::string("arn:aws:ec2:eu-west-1:123456789012:x"),
            other => Value::null(other.clone()),
        })
        .collect();
    Value::object_typed(ty, values)
}

fn resource_with(object: &Value) -> Value {
    object.transform(|_, value| value)
}

fn codecs(ty: &Arc<ObjectType>) {
    let element = Type::Object(ty.clone());
    let text: Vec<String> = (0..5_000)
        .map(|at| {
            format!(
                r#"{{"a00":{at},"a01":true,"a02":"arn:aws:ec2:eu-west-1:123456789012:instance/i-{at:017}","a03":"a plain text of some length","a04":1.5,"a05":"x{at}","list":["a","b","c"],"tags":{{"Name":"web-{at}","Owner":"team \"a\""}},"rule":[{{"from":{at},"to":443}},{{"from":22,"to":22}}],"none":null}}"#
            )
            .replace("\"a05\":\"x", "\"a05\":false,\"a06\":\"x")
        })
        .collect();
    let text = format!("[{}]", text.join(","));
    let list = Type::list(element.clone());
    let decoded =
        speed("JSON decode with a type", text.len(), || json::from_json(text.as_bytes(), &list).expect("it fits"));
    speed("JSON decode without a type", text.len(), || json::decode(text.as_bytes()).expect("JSON"));
    let written = json::to_json(&decoded, &list).expect("it can be written");
    speed("JSON encode", written.len(), || json::to_json(&decoded, &list).expect("it can be written"));
    let packed = msgpack::encode(&decoded, &list).expect("it can be encoded");
    speed("msgpack encode", packed.len(), || msgpack::encode(&decoded, &list).expect("it can be encoded"));
    speed("msgpack decode", packed.len(), || msgpack::decode(&packed, &list).expect("it fits"));
    let untyped = json::decode(text.as_bytes()).expect("JSON");
    once("convert 5,000 untyped objects to the type", || {
        let optional = ObjectType::new(ty.iter().map(|(name, ty)| (name.clone(), ty.clone())))
            .with_optional(ty.iter().map(|(name, _)| name.clone()));
        convert(&untyped, &Type::list(Type::Object(Arc::new(optional)))).expect("it fits")
    });
}

fn sets() {
    let objects: Vec<Value> = (0..10_000)
        .map(|at| {
            Value::object([("from", Value::number(at)), ("to", Value::number(at + 1)), ("name", Value::string("rule"))])
        })
        .collect();
    let element = objects[0].ty();
    let set = once("set of 10,000 objects", || Value::set(element.clone(), objects.clone()));
    let other = Value::set(element, objects.into_iter().rev().collect());
    once("compare two such sets", || set.equals(&other));
    let texts: Vec<Value> = (0..10_000).map(|at| Value::string(format!("item-{}", at * 7919 % 10_007))).collect();
    once("set of 10,000 strings", || Value::set(Type::String, texts.clone()));
}

fn numbers() {
    let (a, b) = (Number::parse("1.1").expect("a number"), Number::parse("2.3").expect("a number"));
    each("add two fractions", 1_000_000, || black_box(a.add(&b)));
    each("divide two fractions", 500_000, || black_box(a.divide(&b)));
    each("read 0.25", 500_000, || black_box(Number::parse(black_box("0.25"))));
    each("print 1.1", 200_000, || black_box(a.to_string()));
    let third = Number::parse("1").expect("a number").divide(&Number::from(3)).expect("a number");
    each("print a third", 50_000, || black_box(third.to_string()));
    each("add two integers", 20_000_000, || black_box(Number::from(black_box(5)).add(&Number::ONE)));
}

fn each<T>(what: &str, times: u32, mut work: impl FnMut() -> T) {
    let start = Instant::now();
    for _ in 0..times {
        work();
    }
    println!("{what:<42} {:>10.0} ns", start.elapsed().as_nanos() as f64 / f64::from(times));
}

fn once<T>(what: &str, work: impl Fn() -> T) -> T {
    let start = Instant::now();
    let result = work();
    println!("{what:<42} {:>10.2} ms", start.elapsed().as_secs_f64() * 1e3);
    result
}

fn speed<T>(what: &str, bytes: usize, work: impl Fn() -> T) -> T {
    let result = work();
    let start = Instant::now();
    for _ in 0..10 {
        black_box(work());
    }
    println!("{what:<42} {:>10.0} MB/s", bytes as f64 * 10.0 / 1e6 / start.elapsed().as_secs_f64());
    result
}
